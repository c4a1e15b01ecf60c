#pragma once
// Compares a node's clock with that of the first rank's node, which defines the times in the timeline of a
// parallel program. One rank of each other node compares them when the program begins and when it ends, and
// stores the result in DIR/clock-<host>.json.

#include <filesystem>
#include <optional>

#include "prof/ranks/clock_exchange.h"

namespace prof {

class NodeClock {
 public:
  // Does nothing on the first rank's node, if another rank of this node was faster, or if there is no answer.
  NodeClock(std::filesystem::path directory, ClockAddress first);
  // Compares again at the end of the program, to measure the drift. If the first rank's node does not answer
  // any more, the first result stays; that takes 0.3 s at most.
  void compare_again() const;
  // Returns the file with the result; empty if another rank compares.
  const std::filesystem::path& file() const { return file_; }

 private:
  void write(const std::optional<ClockDifference>& end) const;

  std::filesystem::path file_;  // empty: this rank does not compare
  ClockAddress first_;
  ClockDifference begin_;
};

}  // namespace prof
