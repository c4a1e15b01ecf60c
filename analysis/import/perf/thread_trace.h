#pragma once
// Traces a thread by its samples; the trace has gaps if nothing is known.

#include <cstdint>
#include <vector>

#include "analysis/database/model.h"

namespace prof::perf {

class ThreadTrace {
 public:
  // Adds a sample. Samples must come in the order of time; damaged ones that do not are ignored. `of_clock`:
  // whether the event's periods are nanoseconds.
  void add(uint64_t time_ns, uint64_t period, bool of_clock, uint32_t node);

  // Returns the trace, and clears it. `contexts`: the database's context of each node.
  std::vector<TraceRecord> take(uint64_t to_epoch_ns, const std::vector<uint32_t>& contexts);

 private:
  struct Piece {
    uint64_t start, end;  // of what ran
    uint32_t node;
  };
  std::vector<Piece> pieces_;
};

}  // namespace prof::perf
