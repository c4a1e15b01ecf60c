#pragma once
// The format forbids two idle records of a trace in a row.

#include <cstdint>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Leaves of idle records that follow each other the first one. Blocks of one trace, in their order.
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

// As many as are written.
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
