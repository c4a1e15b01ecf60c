#include "analysis/words/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace prof {
namespace {

constexpr size_t kMaxSlips = 3;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// Optimal string alignment distance: insertions, deletions, substitutions, exchanges of neighbours.
size_t distance(const std::string& a, const std::string& b) {
  const size_t width = b.size() + 1;
  std::vector<size_t> d((a.size() + 1) * width);
  for (size_t i = 0; i <= a.size(); ++i) d[i * width] = i;
  for (size_t j = 0; j <= b.size(); ++j) d[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t least = std::min({d[(i - 1) * width + j] + 1, d[i * width + j - 1] + 1,
                               d[(i - 1) * width + j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, d[(i - 2) * width + j - 2] + 1);
      d[i * width + j] = least;
    }
  }
  return d.back();
}

}  // namespace

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  const std::string typed = lower(word);
  if (typed.empty()) return {};
  const size_t most = std::min(kMaxSlips, std::max<size_t>(1, typed.size() / 3));
  size_t least = most + 1;
  const std::string* nearest = nullptr;
  const std::string* begun = nullptr;
  size_t begun_count = 0;
  for (const std::string& name : names) {
    const std::string known = lower(name);
    if (known.starts_with(typed)) begun = &name, ++begun_count;
    if (known.size() > typed.size() + most || typed.size() > known.size() + most) continue;
    const size_t slips = distance(typed, known);
    if (slips < least) least = slips, nearest = &name;
  }
  if (nearest) return *nearest;
  return begun_count == 1 ? *begun : std::string();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string name = nearest_name(word, names);
  return name.empty() ? name : "; did you mean " + name + "?";
}

}  // namespace prof
