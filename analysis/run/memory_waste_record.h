#pragma once
// Stores and loads that were wasted: "memory_waste" in run.json.

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/run/record_fields.h"
#include "hpcrun/measurement/format.h"

namespace prof {

// Two accesses to the same memory, of which one was wasted (hpcrun::WasteCell).
struct WastePair {
  hpcrun::WasteKind kind = hpcrun::WasteKind::DeadStore;
  uint32_t first = 0;        // index into Database::contexts: the store or load that came first
  uint32_t second = 0;       // the one that came next; of a frame that ended, the function that returned
  bool frame_ended = false;  // dead store: the stack frame ended before a load
  uint64_t count = 0;        // of accesses
  uint64_t bytes = 0;
  uint64_t access_bytes = 0;  // size of one access; 0 if unknown
  // The memory: an allocation or a variable; neither if it is unknown.
  uint32_t allocation = 0;  // index into Database::contexts; 0: none
  std::string name;         // of the variable, with the member if it is known: "table.entries", "rows[].sum"
  std::string declared;     // "blocksort.c:12"; empty if unknown
  bool on_stack = false;    // of a thread
};

// One kind of waste in the whole run.
struct WasteTotal {
  hpcrun::WasteKind kind = hpcrun::WasteKind::DeadStore;
  uint64_t checked_count = 0;  // of accesses: all (exact), or sampled and decided
  uint64_t checked_bytes = 0;
  uint64_t wasted_count = 0;  // of these
  uint64_t wasted_bytes = 0;
  uint64_t undecided_count = 0;  // sampled, but the watch ended first; in none of the above
};

struct MemoryWasteRecord {
  bool was_searched = false;
  bool is_exact = false;           // all accesses were counted; otherwise they were sampled
  std::vector<WasteTotal> totals;  // of the kinds that were searched for
  std::vector<WastePair> pairs;    // the most bytes first
};

template <typename Visit>
void for_each_field(RecordOf<WastePair> auto& pair, Visit visit) {
  visit("kind", pair.kind);
  visit("first", pair.first);
  visit("second", pair.second);
  visit("frame_ended", pair.frame_ended);
  visit("count", pair.count);
  visit("bytes", pair.bytes);
  visit("access_bytes", pair.access_bytes);
  visit("allocation", pair.allocation);
  visit("name", pair.name);
  visit("declared", pair.declared);
  visit("on_stack", pair.on_stack);
}

template <typename Visit>
void for_each_field(RecordOf<WasteTotal> auto& total, Visit visit) {
  visit("kind", total.kind);
  visit("checked_count", total.checked_count);
  visit("checked_bytes", total.checked_bytes);
  visit("wasted_count", total.wasted_count);
  visit("wasted_bytes", total.wasted_bytes);
  visit("undecided_count", total.undecided_count);
}

template <typename Visit>
void for_each_field(RecordOf<MemoryWasteRecord> auto& record, Visit visit) {
  visit("is_exact", record.is_exact);
}

}  // namespace prof
