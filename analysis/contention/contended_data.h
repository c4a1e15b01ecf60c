#pragma once
// Finds the data that threads contend for. Sorts accesses into lines and time windows. The line model
// (hpcrun/model/cache_line.h) computes how often each line moved between processors, and whether for shared
// or only for neighbouring bytes. Lines of the same variable or allocation site become one finding.

#include <map>
#include <span>
#include <vector>

#include "analysis/contention/evidence.h"
#include "hpcrun/model/cache_line.h"

namespace prof {

struct ContentionOptions {
  uint64_t window_ns = 100'000'000;
  uint64_t resolution_ns = 4'000'000;  // between samples of a thread
  double least_side = 0.02;      // sides with fewer accesses than this part of the largest one's are omitted
  double least_moves = 4;        // per finding, in units of ContentionAccess::stands_for
  uint64_t least_transfers = 0;  // samples per finding; for sources that record transfers
};

// The accesses of one thread to one part of the data.
struct ContentionSide {
  uint32_t thread = 0;
  uint32_t object = kNoObject;
  uint64_t offset = 0;  // from the object's start; an address if there is no object
  uint16_t bytes = 0;
  hpcrun::AccessKind kind = hpcrun::AccessKind::Read;
  uint64_t accesses = 0;
  uint64_t weight_ns = 0;
  std::vector<uint32_t> contexts;  // the one with most accesses first
};

// True if they belong to different threads, at least one of them writing.
bool is_conflict(const ContentionSide& a, const ContentionSide& b);

bool have_common_bytes(const ContentionSide& a, const ContentionSide& b);

struct ContendedData {
  uint32_t site = 0;  // of the objects; lines without an object are a finding each
  bool has_object = false;
  std::vector<uint32_t> objects;  // all that have bytes in contended lines, distinct
  std::vector<uint64_t> lines;    // addresses, ascending
  hpcrun::Sharing sharing = hpcrun::Sharing::None;
  hpcrun::LineMoves moves;
  // Moves of pairs of lines (128 bytes, which processors fetch together) that are not moves of a single line.
  double adjacent_moves = 0;
  uint64_t weight_ns = 0;
  // For each thread, the time from sample to sample at the data, including the code between them: samples
  // that follow each other closely are assumed to belong to one loop. At least the weight of its samples, and
  // at most the elapsed time.
  std::map<uint32_t, uint64_t> busy_ns;
  LineTransfers transfers;
  uint64_t interleaved = 0;           // writes that followed another thread's, if counted (written_data.h)
  std::vector<ContentionSide> sides;  // with most accesses first
};

// Returns findings ranked by the CPU time that was sampled at the data, then by transfers, then by moves.
// `accesses` may be in any order.
std::vector<ContendedData> find_contended_data(std::span<const ContentionAccess> accesses,
                                               std::span<const DataObject> objects,
                                               const ContentionOptions& options = {});

}  // namespace prof
