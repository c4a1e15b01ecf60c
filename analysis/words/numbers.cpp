#include "analysis/words/numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>

namespace prof {
namespace {

bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

// Returns the byte at which the n-th character of the text starts.
size_t start_of_character(std::string_view text, size_t n) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (continues_character(text[at])) continue;
    if (n-- == 0) break;
  }
  return at;
}

}  // namespace

std::string format_duration(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) return "0 s";
  if (seconds < 0.9995e-3) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 9.995) return fmt::format("{:.2f} s", seconds);
  if (seconds < 119.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string format_bytes(double bytes) {
  if (!std::isfinite(bytes) || bytes < 0) return "0 B";
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 || bytes >= 99.95 ? 0 : 1, kUnits[unit]);
}

std::string format_percent(double share) {
  const double percent = std::isfinite(share) ? share * 100 : 0;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return fmt::format("{:.{}f} %", percent, percent < 9.95 && percent > 0 ? 1 : 0);
}

std::string format_placement(uint64_t align, uint64_t offset, uint64_t pad) {
  std::string text = offset == 0 ? fmt::format("at a multiple of {} bytes", align)
                                 : fmt::format("{} bytes after a multiple of {}", offset, align);
  return pad > 1 ? text + ", padded to whole lines" : text;
}

std::string format_count(uint64_t count, const std::string& noun) {
  if (count == 1) return "1 " + noun;
  const bool sibilant = noun.ends_with('s');
  return fmt::format("{} {}{}", count, noun, sibilant ? "es" : "s");
}

std::string format_ranks(const std::vector<int32_t>& ranks, size_t most) {
  assert(std::ranges::adjacent_find(ranks, std::greater_equal()) == ranks.end());
  std::vector<std::pair<int32_t, int32_t>> parts;
  for (const int32_t rank : ranks) {
    if (!parts.empty() && parts.back().second + 1 == rank)
      parts.back().second = rank;
    else
      parts.emplace_back(rank, rank);
  }
  const size_t shown = parts.size() > most ? most : parts.size();
  std::string text;
  size_t named = 0;
  for (size_t i = 0; i < shown; ++i) {
    const auto& [first, last] = parts[i];
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    named += static_cast<size_t>(last - first) + 1;
  }
  if (named < ranks.size()) text += fmt::format(" and {} more", ranks.size() - named);
  return text;
}

bool is_all(double share) {
  return share >= 0.995;
}

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

size_t columns_of(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string shorten_middle(std::string_view text, size_t columns) {
  static constexpr std::string_view kEllipsis = "...";
  const size_t width = columns_of(text);
  columns = std::max(columns, kEllipsis.size() + 2);
  if (width <= columns) return std::string(text);
  const size_t kept = columns - kEllipsis.size();
  const size_t head = (kept + 1) / 2, tail = kept / 2;
  return fmt::format("{}{}{}", text.substr(0, start_of_character(text, head)), kEllipsis,
                     text.substr(start_of_character(text, width - tail)));
}

}  // namespace prof
