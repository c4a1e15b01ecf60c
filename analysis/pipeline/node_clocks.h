#pragma once
// How far the clocks of a parallel program's nodes are from the first rank's, as its ranks found it
// (DIR/clock-<host>.json): so that the lines of a timeline have one time.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hpcrun/measurement/reader.h"

namespace prof {

class NodeClocks {
 public:
  // Of all directories together; a file that is damaged is as none.
  explicit NodeClocks(const std::vector<std::filesystem::path>& directories);

  // What a host's clock lacks, in ns: the mean of when the program began and ended; 0 where that is not
  // known.
  int64_t offset_ns(const std::string& host) const;
  // Puts a process's start into the first rank's time.
  void correct(MeasuredProcess& process) const;

  // One line for the user where traces of several hosts are shown side by side and the clocks of some were
  // not compared.
  std::vector<std::string> warnings(const std::vector<ProcessMeasurement>& measurements) const;

 private:
  std::map<std::string, int64_t> offset_of_;
  std::set<std::string> references_;
};

}  // namespace prof
