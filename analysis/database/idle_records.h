#pragma once
// The format does not allow two consecutive idle records in a trace.

#include <cstdint>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Removes all but the first of consecutive idle records. Must be called with the blocks of one trace in
// order.
class IdleRecords {
 public:
  void leave_one(std::vector<TraceRecord>& block) {
    std::erase_if(block, [this](const TraceRecord& record) {
      const bool is_idle = record.context == kNone;
      const bool is_repeated = is_idle && was_idle_;
      was_idle_ = is_idle;
      return is_repeated;
    });
  }

 private:
  bool was_idle_ = false;
};

// Returns the number of records that are written for a trace.
inline uint64_t count_records(TraceSource trace) {
  IdleRecords idle;
  std::vector<TraceRecord> block;
  uint64_t records = 0;
  while (trace(block)) {
    idle.leave_one(block);
    records += block.size();
  }
  return records;
}

}  // namespace prof
