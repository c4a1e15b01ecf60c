#pragma once
// The selection of ranks to measure (`prof run --ranks`).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace prof {

class RankChoice {
 public:
  // Selects all ranks.
  RankChoice() = default;
  // Parses "0-15,1024" or "10%" (above 0, at most 100). Returns nullopt for anything else.
  static std::optional<RankChoice> parse(std::string_view text);

  // True if the rank is selected. A percentage is spread evenly over all ranks, and includes rank 0.
  bool contains(int rank) const;
  // Returns the first selected rank of a launch of `size` ranks; nullopt if there is none.
  std::optional<int> first(int size) const;
  size_t count(int size) const;

 private:
  std::vector<std::pair<int, int>> ranges_;  // first and last rank of each
  double percent_ = 100;                     // if there are no ranges
};

}  // namespace prof
