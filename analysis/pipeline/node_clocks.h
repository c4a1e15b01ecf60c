#pragma once
// The offsets of the nodes' clocks from the first rank's, as the ranks of a parallel program measured them
// (DIR/clock-<host>.json). With them, all lines of a timeline share one time.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hpcrun/measurement/reader.h"

namespace prof {

class NodeClocks {
 public:
  // Reads those of all directories; damaged files are ignored.
  explicit NodeClocks(const std::vector<std::filesystem::path>& directories);

  // Converts a process's start to the first rank's time, and sets the drift of its node's clock. The drift is
  // the difference of the two comparisons, at the start and the end of the program, if it exceeds their
  // errors. With one comparison, or two without times, the offset is constant: their mean. Does nothing if
  // the node's clock is unknown.
  void correct(MeasuredProcess& process) const;

  // Returns one line for the user if traces of several hosts are displayed together and the clocks of some
  // were not compared.
  std::vector<std::string> warnings(const std::vector<ProcessMeasurement>& measurements) const;

 private:
  struct Clock {
    int64_t offset_ns = 0;      // added to get the first rank's time
    bool to_monotonic = false;  // to CLOCK_MONOTONIC; else to CLOCK_REALTIME at a process's start
    ClockDrift drift;
  };
  static std::optional<Clock> clock_in(const nlohmann::json& record);

  std::map<std::string, Clock> clock_of_;
  std::set<std::string> references_;
};

}  // namespace prof
