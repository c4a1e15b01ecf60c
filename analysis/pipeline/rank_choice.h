#pragma once
// Which ranks of a parallel program are measured, as `prof run --ranks` says it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof {

class RankChoice {
 public:
  // All of them.
  RankChoice() = default;
  // "0-15,1024" or "10%" (above 0, at most 100); nothing where it is neither.
  static std::optional<RankChoice> parse(std::string_view text);

  // A share is spread over all ranks, with rank 0 in it.
  bool contains(int rank) const;
  // The first one of a launch of so many; nothing where none is.
  std::optional<int> first(int size) const;
  size_t count(int size) const;

 private:
  std::vector<std::pair<int, int>> ranges_;  // first and last
  double percent_ = 100;                     // where there are no ranges
};

}  // namespace prof
