#pragma once
// Which data threads write to by turns, as it was counted line by line on pages that each had for itself
// (hpcrun/model/written_line.h; SHERIFF, section 4). Who only reads is not seen, and neither is code.

#include <span>
#include <vector>

#include "analysis/contention/contended_data.h"

namespace prof {

// What one thread changed of one line, as far as it lies in one object.
struct WrittenBytes {
  uint32_t thread = 0;  // of the run, any number that tells threads apart
  uint64_t line = 0;    // address
  uint64_t bytes = 0;   // a bit for each
  uint32_t object = kNoObject;
  uint64_t updates = 0;  // times that the thread was found to have changed the line
  // These are of the line and the thread, and in one of several such pieces alone:
  uint64_t interleaved = 0;  // updates after another thread's
  uint64_t true_sharing = 0;
  uint64_t false_sharing = 0;
  uint64_t until_ns = 0;  // when it was told: what lay there before another object is told apart by it
};

// Ranked by ContendedData::interleaved. `written` may be in any order.
std::vector<ContendedData> find_written_data(std::span<const WrittenBytes> written,
                                             std::span<const DataObject> objects);

}  // namespace prof
