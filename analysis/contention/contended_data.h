#pragma once
// Which data threads contend for. Accesses are sorted into lines and windows of time, the line model says how
// often each line moved between processors and whether for shared or merely neighbouring bytes
// (hpcrun/model/cache_line.h), and lines of the same variable or allocation site become one finding.

#include <map>
#include <span>
#include <vector>

#include "analysis/contention/evidence.h"
#include "hpcrun/model/cache_line.h"

namespace prof {

struct ContentionOptions {
  uint64_t window_ns = 100'000'000;
  uint64_t resolution_ns = 4'000'000;  // between samples of a thread
  double least_side = 0.02;      // sides with fewer accesses than this part of the largest one's are left out
  double least_moves = 4;        // of a finding, in units of ContentionAccess::stands_for
  uint64_t least_transfers = 0;  // samples of a finding; for sources that tell of transfers
};

// What one thread does to one place of the data.
struct ContentionSide {
  uint32_t thread = 0;
  uint32_t object = kNoObject;
  uint64_t offset = 0;  // from the object's begin; an address where there is no object
  uint16_t bytes = 0;
  hpcrun::AccessKind kind = hpcrun::AccessKind::Read;
  uint64_t accesses = 0;
  uint64_t weight_ns = 0;
  std::vector<uint32_t> contexts;  // the one with most accesses first
};

// Are they different threads', one of which writes?
bool is_conflict(const ContentionSide& a, const ContentionSide& b);

bool have_common_bytes(const ContentionSide& a, const ContentionSide& b);

struct ContendedData {
  uint32_t site = 0;  // of the objects; those without one are a finding for each line
  bool has_object = false;
  std::vector<uint32_t> objects;  // all that have bytes in contended lines, distinct
  std::vector<uint64_t> lines;    // addresses, ascending
  hpcrun::Sharing sharing = hpcrun::Sharing::None;
  hpcrun::LineMoves moves;
  // Moves of pairs of lines (128 bytes, which processors fetch together) that are none of a single line.
  double adjacent_moves = 0;
  uint64_t weight_ns = 0;
  // By thread the time from sample to sample there, with what it did between: samples that follow each other
  // closely are taken to be of one loop. At least the weight of its samples, and no more than went by.
  std::map<uint32_t, uint64_t> busy_ns;
  LineTransfers transfers;
  uint64_t interleaved = 0;  // writes after another thread's, where these were counted (written_data.h)
  std::vector<ContentionSide> sides;  // with most accesses first
};

// Ranked by the CPU time that was found there, then by transfers, then by moves. `accesses` may be in any
// order.
std::vector<ContendedData> find_contended_data(std::span<const ContentionAccess> accesses,
                                               std::span<const DataObject> objects,
                                               const ContentionOptions& options = {});

}  // namespace prof
