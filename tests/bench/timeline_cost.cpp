// Makes databases with long traces, and prints how long the timeline takes to open, index and paint them:
//   timeline_cost make DATABASE THREADS RECORDS
//   timeline_cost measure DATABASE
// Without a display; tests/bench/timeline runs it.

#include <fmt/format.h>

#include <QApplication>
#include <QTest>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>

#include "analysis/database/database.h"
#include "viewer/timeline/timeline_page.h"
#include "viewer/trace/index_file.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr uint32_t kContexts = 20'000, kFunctions = 2'000;
constexpr uint64_t kPeriodNs = 1'000'000;

// A tree of calls some twenty deep.
Database program(uint32_t threads) {
  Database database;
  database.title = "large";
  database.metrics = {{"CPUTIME", "sec", ""}};
  for (uint32_t f = 0; f < kFunctions; ++f)
    database.functions.push_back({fmt::format("function{}", f), kNone, f, kNone, 0});
  std::mt19937 random(1);
  database.contexts.resize(kContexts);
  database.contexts[0].kind = ContextKind::Entry;
  database.contexts[0].relation = Relation::Enclosing;
  database.contexts[0].entry = "main thread";
  for (uint32_t c = 1; c < kContexts; ++c) {
    database.contexts[c].parent = c - 1 - static_cast<uint32_t>(random() % std::min(c, 1000u));
    database.contexts[c].function = static_cast<uint32_t>(random() % kFunctions);
  }
  for (uint32_t t = 0; t < threads; ++t) {
    Profile profile;
    profile.id.thread = static_cast<int32_t>(t);
    profile.id.process = 1;
    profile.id.thread_name = "worker";
    profile.values = {{0, 0, {1, 1, 1}}};
    database.profiles.push_back(profile);
  }
  return database;
}

// Threads stay in a part of the program for some thousand samples, and rest at times.
TraceSource trace(uint32_t seed, uint64_t records) {
  return [random = std::mt19937(seed), left = records, time = uint64_t{1'700'000'000'000'000'000}, part = 0u,
          was_idle = false, records, seed](std::vector<TraceRecord>& block) mutable {
    block.clear();
    if (left == 0) {
      random.seed(seed);
      left = records;
      time = 1'700'000'000'000'000'000;
      return false;
    }
    for (uint64_t i = 0; i < 65'536 && left > 0; ++i, --left) {
      if (random() % 3000 == 0) part = static_cast<uint32_t>(random() % kContexts);
      const bool is_idle = !was_idle && random() % 50 == 0;
      const uint32_t spread = 1u << random() % 8;
      const auto context = static_cast<uint32_t>((part + random() % spread) % kContexts);
      block.push_back({time, is_idle ? kNone : context});
      was_idle = is_idle;
      time += kPeriodNs / 2 + random() % kPeriodNs;
      if (is_idle) time += random() % (20 * kPeriodNs);
    }
    return true;
  };
}

void make(const std::filesystem::path& folder, uint32_t threads, uint64_t records) {
  Database database = program(threads);
  for (uint32_t t = 0; t < threads; ++t) database.traces.push_back(trace(t + 1, records));
  write_database(database, folder);
}

double ms_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

template <class Work>
double ms(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return ms_since(begin);
}

// "123 MiB, and 456 MiB of mapped files"
std::string resident() {
  uint64_t own = 0, files = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) own = std::strtoull(line.c_str() + 8, nullptr, 10) / 1024;
    if (line.starts_with("RssFile:")) files = std::strtoull(line.c_str() + 8, nullptr, 10) / 1024;
  }
  return fmt::format("{} MiB, and {} MiB of mapped files", own, files);
}

void print_spread(const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  fmt::print("{:<46} {:6.1f} ms median, {:6.1f} ms worst of {}\n", what, times[times.size() / 2],
             times.back(), times.size());
}

void measure_painting(Document& document, TimelinePage& page) {
  TimelineView& view = *page.findChild<TimelineView*>();
  QImage image(view.viewport()->size(), QImage::Format_RGB32);
  // What the user waits for, and until nothing of it is of the picture before.
  std::vector<double> complete;
  const auto paint = [&] { view.viewport()->render(&image); };
  const auto paint_all = [&](std::vector<double>& first) {
    const auto begin = std::chrono::steady_clock::now();
    first.push_back(ms(paint));
    while (!view.is_complete()) QApplication::processEvents();
    complete.push_back(ms_since(begin));
  };
  const TimeRange whole = view.whole();
  std::vector<double> zoom, pan, times;
  for (double share = 1; share > 1e-5; share *= 0.8) {
    const auto duration = static_cast<uint64_t>(static_cast<double>(whole.ns()) * share);
    const uint64_t begin = whole.begin_ns + (whole.ns() - duration) / 3;
    view.show_range({begin, begin + duration});
    paint_all(zoom);
    for (int step = 1; step <= 3; ++step) {
      view.show_range({begin + duration / 10 * static_cast<uint64_t>(step),
                       begin + duration / 10 * static_cast<uint64_t>(step) + duration});
      paint_all(pan);
    }
    times.push_back(ms([&] {
      Times sums(kContexts);
      const Traces& traces = document.traces();
      for (const TimelineRow& row : view.rows())
        traces.index()->add_times(row.row, view.shown().begin_ns, view.shown().end_ns, sums);
    }));
  }
  print_spread("repaint after a zoom", zoom);
  print_spread("repaint after a pan", pan);
  print_spread("until such a picture is complete", complete);
  print_spread("time by context of what is shown", times);
}

void measure(const std::filesystem::path& folder) {
  {
    const Database database = read_database(folder);
    const auto traces = std::make_shared<const MappedTraces>(database);
    if (!open_index(traces)) {
      BuildProgress progress;
      fmt::print("{:<46} {:6.1f} s, {} M records\n", "index made, two threads",
                 ms([&] { build_index(traces, 2, progress); }) / 1000, traces->all_segments() / 1'000'000);
    }
    for (const auto& place : places_of_index(*traces))
      if (std::filesystem::exists(place))
        fmt::print("{:<46} {:6} MiB\n", "index on disk", std::filesystem::file_size(place) >> 20);
    fmt::print("{:<46} {:6.1f} ms\n", "index opened", ms([&] { open_index(traces); }));
  }
  const auto begin = std::chrono::steady_clock::now();
  Document document(folder);
  TimelinePage page(document);
  page.resize(1600, 800);
  page.show();
  QImage image(page.size(), QImage::Format_RGB32);
  page.render(&image);
  fmt::print("{:<46} {:6.1f} ms, {} x {} pixels\n", "database opened and timeline painted", ms_since(begin),
             page.findChild<TimelineView*>()->picture_area().width(),
             page.findChild<TimelineView*>()->picture_area().height());
  fmt::print("{:<46} {}\n", "resident then", resident());
  if (!QTest::qWaitFor([&] { return page.is_complete(); }, 60'000)) fmt::print("not complete\n");
  measure_painting(document, page);
  fmt::print("{:<46} {}\n", "resident at the end", resident());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "make" && argc == 5) {
    make(argv[2], static_cast<uint32_t>(std::stoul(argv[3])), std::stoull(argv[4]));
    return 0;
  }
  if (mode != "measure" || argc != 3) return 2;
  qputenv("QT_QPA_PLATFORM", "offscreen");
  int no_arguments = 1;
  QApplication application(no_arguments, argv);
  measure(argv[2]);
  return 0;
}
