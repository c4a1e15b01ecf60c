#include "analysis/pipeline/rank_choice.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace prof {
namespace {

template <typename Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::pair<int, int>> range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = number<int>(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number<int>(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
  return std::pair(*first, *last);
}

}  // namespace

std::optional<RankChoice> RankChoice::parse(std::string_view text) {
  RankChoice choice;
  if (text.ends_with('%')) {
    const auto percent = number<double>(text.substr(0, text.size() - 1));
    if (!percent || !(*percent > 0) || *percent > 100) return std::nullopt;
    choice.percent_ = *percent;
    return choice;
  }
  while (true) {
    const size_t comma = text.find(',');
    const auto part = range(text.substr(0, comma));
    if (!part) return std::nullopt;
    choice.ranges_.push_back(*part);
    if (comma == text.npos) return choice;
    text.remove_prefix(comma + 1);
  }
}

bool RankChoice::contains(int rank) const {
  if (!ranges_.empty())
    return std::ranges::any_of(
        ranges_, [&](const auto& range) { return range.first <= rank && rank <= range.second; });
  const auto chosen_up_to = [&](int last) { return std::floor(last * percent_ / 100 + 1e-9); };
  return rank == 0 || chosen_up_to(rank) > chosen_up_to(rank - 1);
}

std::optional<int> RankChoice::first(int size) const {
  for (int rank = 0; rank < size; ++rank)
    if (contains(rank)) return rank;
  return std::nullopt;
}

size_t RankChoice::count(int size) const {
  size_t count = 0;
  for (int rank = 0; rank < size; ++rank) count += contains(rank);
  return count;
}

}  // namespace prof
