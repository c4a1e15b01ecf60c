#pragma once
// The clock of a node beside that of the first rank's, whose time the timeline of a parallel program has: one
// rank of each other node compares them when the program begins and when it ends, and keeps the result in
// DIR/clock-<host>.json.

#include <filesystem>
#include <optional>

#include "prof/ranks/clock_exchange.h"

namespace prof {

class NodeClock {
 public:
  // Does nothing on the first rank's node, where another rank of this node is faster, and where nobody
  // answers.
  NodeClock(std::filesystem::path directory, ClockAddress first);
  // At the end of the program, for what the clock has drifted by. Where the first rank's node does not answer
  // any more, what was found at the begin stays, after 0.3 s at most.
  void compare_again() const;
  // Where it keeps the result; empty where another rank does.
  const std::filesystem::path& file() const { return file_; }

 private:
  void write(const std::optional<ClockDifference>& end) const;

  std::filesystem::path file_;  // empty: this rank does not compare
  ClockAddress first_;
  ClockDifference begin_;
};

}  // namespace prof
