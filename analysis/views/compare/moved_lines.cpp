#include "analysis/views/compare/moved_lines.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

namespace prof {
namespace {

constexpr uint32_t kUnmatched = UINT32_MAX;
constexpr size_t kMaxCells = 1u << 22;  // of a table of subsequences: a few milliseconds, 8 MB

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r'))
      line.remove_suffix(1);
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

struct Range {
  uint32_t begin, end;
  uint32_t size() const { return end - begin; }
};

class Alignment {
 public:
  Alignment(std::vector<std::string_view> before, std::vector<std::string_view> after)
      : before_(std::move(before)), after_(std::move(after)), match_(before_.size(), kUnmatched) {
    align({0, static_cast<uint32_t>(before_.size())}, {0, static_cast<uint32_t>(after_.size())});
  }

  // Indices of the lines of the later text. Every line has one if the text has any.
  std::vector<uint32_t> with_neighbours() const {
    std::vector<uint32_t> lines = match_;
    uint32_t next = 0;  // after the last line that is taken
    for (uint32_t i = 0; i < lines.size();) {
      if (match_[i] != kUnmatched) {
        next = match_[i++] + 1;
        continue;
      }
      uint32_t end = i;
      while (end < lines.size() && match_[end] == kUnmatched) ++end;
      const auto limit = end < lines.size() ? match_[end] : static_cast<uint32_t>(after_.size());
      for (uint32_t k = 0; i < end; ++i, ++k) {
        const uint32_t last = limit > next ? limit - 1 : next > 0 ? next - 1 : 0;
        lines[i] = std::min(next + k, last);
      }
      next = limit;
    }
    for (const auto& [line, count] :
         counts_in({0, static_cast<uint32_t>(before_.size())}, {0, static_cast<uint32_t>(after_.size())}))
      if (count.is_in_both_once() && !line.empty()) lines[count.at_before] = count.at_after;
    return lines;
  }

 private:
  struct Count {
    uint32_t before = 0, after = 0, at_before = 0, at_after = 0;
    bool is_in_both_once() const { return before == 1 && after == 1; }
  };

  std::unordered_map<std::string_view, Count> counts_in(Range a, Range b) const {
    std::unordered_map<std::string_view, Count> counts;
    for (uint32_t i = a.begin; i < a.end; ++i) {
      ++counts[before_[i]].before;
      counts[before_[i]].at_before = i;
    }
    for (uint32_t j = b.begin; j < b.end; ++j) {
      ++counts[after_[j]].after;
      counts[after_[j]].at_after = j;
    }
    return counts;
  }

  void align(Range a, Range b) {
    while (a.size() > 0 && b.size() > 0 && before_[a.begin] == after_[b.begin]) match_[a.begin++] = b.begin++;
    while (a.size() > 0 && b.size() > 0 && before_[a.end - 1] == after_[b.end - 1]) match_[--a.end] = --b.end;
    if (a.size() == 0 || b.size() == 0) return;
    if (static_cast<size_t>(a.size() + 1) * (b.size() + 1) <= kMaxCells) return align_exactly(a, b);
    for (const auto& [inner_a, inner_b] : between_anchors(a, b)) align(inner_a, inner_b);
  }

  void align_exactly(Range a, Range b) {
    const size_t width = b.size() + 1;
    std::vector<uint16_t> longest((a.size() + 1) * width);
    for (size_t i = a.size(); i-- > 0;)
      for (size_t j = b.size(); j-- > 0;)
        longest[i * width + j] = before_[a.begin + i] == after_[b.begin + j]
                                     ? static_cast<uint16_t>(longest[(i + 1) * width + j + 1] + 1)
                                     : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
      if (before_[a.begin + i] == after_[b.begin + j])
        match_[a.begin + i++] = static_cast<uint32_t>(b.begin + j++);
      else
        longest[(i + 1) * width + j] >= longest[i * width + j + 1] ? ++i : ++j;
    }
  }

  // Splits long texts at the lines that occur once in both, as far as these are in the same order (Bram
  // Cohen's patience diff). Returns nothing if there are no such lines.
  std::vector<std::pair<Range, Range>> between_anchors(Range a, Range b) {
    std::map<uint32_t, uint32_t> unique;
    for (const auto& [line, count] : counts_in(a, b))
      if (count.is_in_both_once()) unique[count.at_before] = count.at_after;
    // Finds the longest rising subsequence: for each length the pair that ends lowest, and the predecessor of
    // each.
    std::vector<std::pair<uint32_t, uint32_t>> pairs(unique.begin(), unique.end());
    std::vector<size_t> ends, previous(pairs.size(), pairs.size());
    for (size_t p = 0; p < pairs.size(); ++p) {
      const auto at = std::lower_bound(ends.begin(), ends.end(), pairs[p].second,
                                       [&](size_t e, uint32_t value) { return pairs[e].second < value; });
      if (at != ends.begin()) previous[p] = *(at - 1);
      at == ends.end() ? ends.push_back(p) : void(*at = p);
    }
    std::vector<std::pair<Range, Range>> gaps;
    if (ends.empty()) return gaps;
    Range rest_a = a, rest_b = b;
    for (size_t p = ends.back(); p < pairs.size(); p = previous[p]) {
      match_[pairs[p].first] = pairs[p].second;
      gaps.push_back({{pairs[p].first + 1, rest_a.end}, {pairs[p].second + 1, rest_b.end}});
      rest_a.end = pairs[p].first;
      rest_b.end = pairs[p].second;
    }
    gaps.push_back({rest_a, rest_b});
    return gaps;
  }

  const std::vector<std::string_view> before_, after_;
  std::vector<uint32_t> match_;
};

}  // namespace

std::vector<uint32_t> moved_lines(const std::string& before, const std::string& after) {
  std::vector<uint32_t> lines = Alignment(lines_of(before), lines_of(after)).with_neighbours();
  for (uint32_t& line : lines) ++line;
  return lines;
}

}  // namespace prof
