#pragma once
// What a thread ran when, by its samples: a trace with gaps where nothing is known.

#include <cstdint>
#include <vector>

#include "analysis/database/model.h"

namespace prof::perf {

class ThreadTrace {
 public:
  // Samples come in order of time; damaged ones that do not are left out. `of_clock`: of an event whose
  // periods are nanoseconds.
  void add(uint64_t time_ns, uint64_t period, bool of_clock, uint32_t node);

  // `contexts`: of the database, by node. The trace is used up.
  std::vector<TraceRecord> take(uint64_t to_epoch_ns, const std::vector<uint32_t>& contexts);

 private:
  struct Piece {
    uint64_t start, end;  // of what ran
    uint32_t node;
  };
  std::vector<Piece> pieces_;
};

}  // namespace prof::perf
