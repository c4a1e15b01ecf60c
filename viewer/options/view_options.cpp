#include "viewer/options/view_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <charconv>

namespace prof::viewer {

namespace {

constexpr int kDeepest = 1'000'000;
constexpr int kMinPixels = 200, kMaxPixels = 16'384;

std::string check_size(const std::string& text) {
  if (size_of(text)) return {};
  return "expected WIDTHxHEIGHT in pixels, 200 to 16384 each, such as 1600x900";
}

std::string check_time(const std::string& text) {
  if (time_of(text)) return {};
  return "expected BEGIN..END in seconds from the start of the run, such as 1.5..2";
}

std::string check_picture(const std::string& text) {
  for (const char* const ending : {".png", ".svg"})
    if (text.size() > 4 && text.ends_with(ending)) return {};
  return "expected a file name that ends in .png or .svg";
}

}  // namespace

const std::vector<std::string> kPages = {"summary", "top-down", "bottom-up", "flat",        "flame-graph",
                                         "source",  "timeline", "threads",   "idleness",    "contention",
                                         "locks",   "stalls",   "diff",      "memory-waste"};

std::string first_page(const ViewOptions& options) {
  if (!options.view.empty()) return options.view;
  return options.compare.empty() ? kPages.front() : "diff";
}

std::optional<Size> size_of(const std::string& text) {
  Size size{};
  const char* const end = text.data() + text.size();
  const auto [x, failed] = std::from_chars(text.data(), end, size.width);
  if (failed != std::errc() || x == end || *x != 'x') return {};
  const auto [last, failed_too] = std::from_chars(x + 1, end, size.height);
  const auto fits = [](int pixels) { return pixels >= kMinPixels && pixels <= kMaxPixels; };
  if (failed_too != std::errc() || last != end || !fits(size.width) || !fits(size.height)) return {};
  return size;
}

std::optional<Seconds> time_of(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos) return {};
  Seconds time{};
  const char* const middle = text.data() + dots;
  const char* const last = text.data() + text.size();
  const auto [end, failed] = std::from_chars(text.data(), middle, time.begin);
  const auto [end_too, failed_too] = std::from_chars(middle + 2, last, time.end);
  if (failed != std::errc() || end != middle || failed_too != std::errc() || end_too != last) return {};
  constexpr double kLongest = 1e9;  // about thirty years; also rejects "inf" and "nan"
  if (!(time.begin >= 0 && time.begin < time.end && time.end <= kLongest)) return {};
  return time;
}

void add_view_options(CLI::App& command, ViewOptions& options) {
  command.add_option("DATABASE", options.database, "Database or measurement directory");
  command.add_option("--compare", options.compare, "Compare with another database: show what changed")
      ->type_name("DATABASE");
  command
      .add_flag("--same-total", options.same_total, "With --compare, scale the other run to the same total")
      ->needs("--compare");
  command.add_option("--view", options.view, fmt::format("Page to show: {}", fmt::join(kPages, ", ")))
      ->type_name("PAGE")
      ->check(CLI::IsMember(kPages));
  command.add_option("--function", options.function, "Function to select, as reports name it")
      ->type_name("NAME");
  command.add_option("--metric", options.metric, "Metric to show first")->type_name("METRIC");
  command.add_option("--thread", options.threads, "Select threads, as in `prof report --thread`")
      ->type_name("THREAD")
      ->allow_extra_args(false);
  command
      .add_option("--time", options.time,
                  "Time to show, in seconds from the start of the run (needs a trace)")
      ->type_name("BEGIN..END")
      ->check(CLI::Validator(check_time, ""))
      ->excludes("--compare");
  command.add_option("--depth", options.depth, "Call depth that colors the timeline, 0 for the entry points")
      ->type_name("N")
      ->check(CLI::Range(0, kDeepest));
  command.add_option("--theme", options.theme, "Color theme: light or dark")
      ->type_name("light|dark")
      ->check(CLI::IsMember({"light", "dark"}));
  command.add_option("--screenshot", options.screenshot, "Write a picture instead of opening a window")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, ""));
  command
      .add_option("--table", options.table, "Write the page's table as CSV and exit; - is standard output")
      ->type_name("FILE");
  command.add_option("--size", options.size, "Size of the window or picture in pixels")
      ->type_name("WxH")
      ->check(CLI::Validator(check_size, ""));
}

std::vector<std::string> arguments_of(const ViewOptions& options) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    arguments.emplace_back(name);
    arguments.push_back(value);
  };
  add("--compare", options.compare);
  if (options.same_total) arguments.emplace_back("--same-total");
  add("--view", options.view);
  add("--function", options.function);
  add("--metric", options.metric);
  for (const std::string& thread : options.threads) add("--thread", thread);
  add("--time", options.time);
  if (options.depth >= 0) add("--depth", std::to_string(options.depth));
  add("--theme", options.theme);
  add("--screenshot", options.screenshot);
  add("--table", options.table);
  add("--size", options.size);
  if (options.database.empty()) return arguments;
  arguments.emplace_back("--");
  arguments.push_back(options.database);
  return arguments;
}

}  // namespace prof::viewer
