// Makes databases with long traces, and prints how long the timeline takes to open, index and paint them:
//   timeline_cost make DATABASE THREADS RECORDS
//   timeline_cost measure DATABASE
// Needs no display; tests/bench/timeline runs it.

#include <fmt/format.h>

#include <QApplication>
#include <QTest>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "analysis/database/database.h"
#include "analysis/views/run/idleness.h"
#include "analysis/views/tree/hot_path.h"
#include "analysis/views/tree/thread_costs.h"
#include "viewer/document/timed_database.h"
#include "viewer/options/view_options.h"
#include "viewer/threads/thread_values.h"
#include "viewer/timeline/timeline_page.h"
#include "viewer/trace/index_file.h"
#include "viewer/window/pages.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr uint32_t kContexts = 20'000, kFunctions = 2'000;
constexpr uint64_t kPeriodNs = 1'000'000;

// Returns a tree of calls some twenty deep.
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

// Threads stay in a part of the program for some thousand samples, with occasional gaps.
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

uint64_t most_resident = 0;  // MiB, the highest value of look_at_memory()

void look_at_memory() {
  uint64_t sum = 0;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) sum = std::strtoull(line.c_str() + 6, nullptr, 10) / 1024;
  most_resident = std::max(most_resident, sum);
}

// Returns "123 MiB, and 456 MiB of mapped files".
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
  // Measures the time until the picture contains nothing from before, for which the user waits.
  std::vector<double> complete;
  const auto paint = [&] { view.viewport()->render(&image); };
  const auto paint_all = [&](std::vector<double>& first) {
    const auto begin = std::chrono::steady_clock::now();
    first.push_back(ms(paint));
    while (!view.is_complete()) QApplication::processEvents();
    complete.push_back(ms_since(begin));
    look_at_memory();
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
        traces.index()->add_times(row.rows.front(), view.shown().begin_ns, view.shown().end_ns, sums);
    }));
  }
  print_spread("repaint after a zoom", zoom);
  print_spread("repaint after a pan", pan);
  print_spread("until such a picture is complete", complete);
  print_spread("time by context of what is shown", times);
}

// Shows all pages next to each other, and measures each until it is repainted.
void measure_choice(Document& document) {
  std::vector<std::unique_ptr<Page>> pages;
  for (const std::string& id : kPages) {
    pages.push_back(make_page(QString::fromStdString(id), document));
    pages.back()->resize(1280, 800);
    pages.back()->show();
  }
  std::map<QString, std::vector<double>> of_page;
  std::vector<double> choices, all;
  const auto show = [&](std::vector<double>& times) {
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& page : pages) {
      const double took = ms([&] {
        do QApplication::processEvents();
        while (!page->is_complete() && ms_since(begin) < 60'000);
        page->grab();
      });
      of_page[page->id()].push_back(took);
    }
    times.push_back(ms_since(begin));
  };
  std::vector<double> first;
  show(first);
  print_spread("all pages, for the first time", first);
  of_page.clear();
  std::mt19937 random(1);
  const MappedTraces& traces = document.traces().mapped();
  const uint64_t whole = traces.end_ns() - traces.begin_ns();
  for (int i = 0; i < 40; ++i) {
    const uint64_t ns = whole >> random() % 16;
    const uint64_t begin = traces.begin_ns() + (whole - ns) / 1000 * (random() % 1000);
    const auto start = std::chrono::steady_clock::now();
    choices.push_back(ms([&] { document.choose_time(TimeRange{begin, begin + ns}); }));
    show(all);
    all.back() = ms_since(start);
    look_at_memory();
  }
  print_spread("a time chosen for all pages: times by context", {[&] {
                 std::vector<double> took;
                 for (int i = 0; i < 40; ++i) {
                   const uint64_t ns = whole >> random() % 16;
                   took.push_back(ms([&] {
                     timed_database(document.database(), *document.traces().index(),
                                    {traces.begin_ns(), traces.begin_ns() + ns});
                   }));
                   look_at_memory();
                   document.traces().give_back();
                 }
                 return took;
               }()});
  print_spread("a time chosen: until pages heard it", choices);
  for (const auto& [id, times] : of_page)
    print_spread(("  then painted: " + id.toStdString()).c_str(), times);
  print_spread("a time chosen, until all pages show it", all);

  // Work of the pages in the window's thread.
  document.choose_time(TimeRange{traces.begin_ns(), traces.end_ns()});
  const CallTree& tree = document.tree();
  size_t values = 0;
  for (const Profile& profile : tree.database->profiles) values += profile.values.size();
  fmt::print("{:<46} {} in {} contexts, {} threads\n", "values of all of the time", values,
             tree.node_of.size(), tree.database->profiles.size());
  print_spread("costs by thread, for statistics in tables", {ms([&] { ThreadCosts costs(tree); })});
  print_spread("functions by their own cost", {ms([&] { hot_functions(tree, 8); })});
  print_spread("idleness", {ms([&] { idleness(*tree.database, tree.selection, document.run()); })});
  print_spread("costs of threads in a function",
               {ms([&] { thread_values(tree, 0, tree.nodes.back().frame, CostKind::Inclusive); })});
}

void measure(const std::filesystem::path& folder) {
  {
    const Database database = read_database(folder);
    const auto traces = std::make_shared<const MappedTraces>(database);
    BuildProgress progress;
    if (!open_index(traces, 2, progress.is_cancelled)) {
      fmt::print("{:<46} {:6.1f} s, {} M records\n", "index made, two threads",
                 ms([&] { build_index(traces, 2, progress); }) / 1000, traces->all_segments() / 1'000'000);
    }
    for (const auto& place : places_of_index(*traces))
      if (std::filesystem::exists(place))
        fmt::print("{:<46} {:6} MiB\n", "index on disk", std::filesystem::file_size(place) >> 20);
    fmt::print("{:<46} {:6.1f} ms\n", "index opened, two threads",
               ms([&] { open_index(traces, 2, progress.is_cancelled); }));
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
  fmt::print("{:<46} {}\n", "resident after painting", resident());
  measure_choice(document);
  fmt::print("{:<46} {}\n", "resident at the end", resident());
  fmt::print("{:<46} {} MiB\n", "most resident after any repaint or choice", most_resident);
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
