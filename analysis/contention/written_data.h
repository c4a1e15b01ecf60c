#pragma once
// Finds the data that threads write alternately, from counts per line on pages of which each thread had its
// own copy (hpcrun/model/written_line.h; SHERIFF, section 4). Threads that only read are not counted, and the
// code is unknown.

#include <span>
#include <vector>

#include "analysis/contention/contended_data.h"

namespace prof {

// The bytes of one line that one thread changed, as far as they lie in one object.
struct WrittenBytes {
  uint32_t thread = 0;  // any number that identifies the thread in the run
  uint64_t line = 0;    // address
  uint64_t bytes = 0;   // one bit each
  uint32_t object = kNoObject;
  uint64_t updates = 0;  // times that the thread was found to have changed the line
  // These are totals of the line and the thread, stored in only one of several such pieces:
  uint64_t interleaved = 0;  // updates that followed another thread's
  uint64_t true_sharing = 0;
  uint64_t false_sharing = 0;
  uint64_t until_ns = 0;  // when it was reported; distinguishes successive objects at the same place
};

// Returns findings ranked by ContendedData::interleaved. `written` may be in any order.
std::vector<ContendedData> find_written_data(std::span<const WrittenBytes> written,
                                             std::span<const DataObject> objects);

}  // namespace prof
