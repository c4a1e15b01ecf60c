#include "viewer/options/view_options.h"

#include <CLI/CLI.hpp>
#include <charconv>

namespace prof::viewer {

namespace {

constexpr int kLeastPixels = 200, kMostPixels = 16'384;

std::string check_size(const std::string& text) {
  if (size_of(text)) return {};
  return "a size is WIDTHxHEIGHT in pixels, 200 to 16384 each, as 1600x900";
}

std::string check_picture(const std::string& text) {
  for (const char* const ending : {".png", ".svg"})
    if (text.size() > 4 && text.ends_with(ending)) return {};
  return "pictures end in .png or .svg";
}

}  // namespace

const std::vector<std::string> kPages = {"summary", "threads", "idleness", "contention", "locks", "stalls"};

std::optional<Size> size_of(const std::string& text) {
  Size size{};
  const char* const end = text.data() + text.size();
  const auto [x, failed] = std::from_chars(text.data(), end, size.width);
  if (failed != std::errc() || x == end || *x != 'x') return {};
  const auto [last, failed_too] = std::from_chars(x + 1, end, size.height);
  const auto fits = [](int pixels) { return pixels >= kLeastPixels && pixels <= kMostPixels; };
  if (failed_too != std::errc() || last != end || !fits(size.width) || !fits(size.height)) return {};
  return size;
}

void add_view_options(CLI::App& command, ViewOptions& options) {
  command.add_option("DATABASE", options.database, "A database, or the measurements of a run");
  command.add_option("--view", options.view, "The page in front")->check(CLI::IsMember(kPages));
  command.add_option("--metric", options.metric, "The metric that is shown first");
  command.add_option("--thread", options.threads, "Only these threads, as `prof report --thread` takes them")
      ->type_name("THREAD")
      ->allow_extra_args(false);
  command.add_option("--theme", options.theme, "Light or dark colours")
      ->check(CLI::IsMember({"light", "dark"}));
  command.add_option("--screenshot", options.screenshot, "Write a picture instead of opening a window")
      ->type_name("FILE")
      ->check(CLI::Validator(check_picture, ""));
  command.add_option("--size", options.size, "Of the window or the picture, in pixels")
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
  add("--view", options.view);
  add("--metric", options.metric);
  for (const std::string& thread : options.threads) add("--thread", thread);
  add("--theme", options.theme);
  add("--screenshot", options.screenshot);
  add("--size", options.size);
  if (options.database.empty()) return arguments;
  arguments.emplace_back("--");
  arguments.push_back(options.database);
  return arguments;
}

}  // namespace prof::viewer
