#pragma once
// The database whose traces the target `timeline` changes: small, with wide and narrow blocks and several
// levels.

#include <filesystem>
#include <string>

#include "analysis/database/database.h"
#include "tests/analysis/database/files.h"
#include "tests/viewer/trace/random_traces.h"

namespace prof::test {

class TimelineSeed {
 public:
  TimelineSeed() { write_database(traced_database({700, 30, 0}, 7), path()); }
  std::filesystem::path path() const { return folder_.path() / "database"; }
  void write_trace(const std::string& bytes) const { write_bytes(path() / "trace.db", bytes); }

 private:
  TemporaryDirectory folder_;
};

}  // namespace prof::test
