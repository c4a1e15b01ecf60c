#pragma once
// How far the clocks of a parallel program's nodes are from the first rank's, as its ranks found it
// (DIR/clock-<host>.json): so that the lines of a timeline have one time.

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
  // Of all directories together; a file that is damaged is as none.
  explicit NodeClocks(const std::vector<std::filesystem::path>& directories);

  // Puts a process's start into the first rank's time, and says how its node's clock drifts from it: between
  // the begin and the end of the program by what the two comparisons differ in, where that is more than
  // their errors. With one comparison, or two of measurements that do not say when they were, a clock is as
  // far off all the time: by the mean. Nothing where the node's is not known.
  void correct(MeasuredProcess& process) const;

  // One line for the user where traces of several hosts are shown side by side and the clocks of some were
  // not compared.
  std::vector<std::string> warnings(const std::vector<ProcessMeasurement>& measurements) const;

 private:
  struct Clock {
    int64_t offset_ns = 0;      // to be added for the first rank's time
    bool to_monotonic = false;  // to CLOCK_MONOTONIC; else to CLOCK_REALTIME, as processes began
    ClockDrift drift;
  };
  static std::optional<Clock> clock_in(const nlohmann::json& record);

  std::map<std::string, Clock> clock_of_;
  std::set<std::string> references_;
};

}  // namespace prof
