#pragma once
// Whether threads share a cache line, and how: what each thread was seen to read and write of it in a window
// of time becomes the number of times the line had to move between processors, for data that two threads use
// (true sharing) or only because their data lie side by side (false sharing). Works on samples: each stands
// for a number of accesses (TMI, 3.1), and accesses are taken to come at an even rate between the first and
// the last that were seen.
//
// Nobody but the window's owner may touch it at a time. No allocation; async-signal-safe.

#include <cstdint>
#include <memory>

#include "hpcrun/model/memory_access.h"

namespace hpcrun {

struct LineAccess {
  uint32_t thread;  // any number that tells threads apart
  uint8_t offset;   // in the line, or in a pair of lines
  uint8_t bytes;
  AccessKind kind;
  uint64_t time_ns;
  uint64_t stands_for;  // accesses
};

// One place in the line that one thread uses in one way.
struct Spot {
  uint8_t offset = 0;
  uint8_t bytes = 0;
  AccessKind kind = AccessKind::Read;
  uint64_t accesses = 0;
};

constexpr uint32_t kMostSpots = 12;
constexpr uint32_t kMostLineThreads = 16;

struct ThreadUse {
  uint32_t thread = 0;
  uint32_t spot_count = 0;
  uint64_t first_ns = 0;
  uint64_t last_ns = 0;
  uint64_t accesses = 0;  // of all spots
  Spot spots[kMostSpots];
};

// How often the line moved, estimated. A move is counted once, for what the two threads did before and after
// it.
struct LineMoves {
  double false_write_write = 0;
  double false_read_write = 0;
  double true_write_write = 0;
  double true_read_write = 0;

  double of_false_sharing() const noexcept { return false_write_write + false_read_write; }
  double of_true_sharing() const noexcept { return true_write_write + true_read_write; }
  double total() const noexcept { return of_false_sharing() + of_true_sharing(); }
  LineMoves& operator+=(const LineMoves& more) noexcept;
};

enum class Sharing : uint8_t { None, False, True, Mixed };

// Mixed: neither kind is less than a tenth. None: fewer than `least` moves.
Sharing verdict(const LineMoves& moves, double least) noexcept;

class LineWindow {
 public:
  // False, and counted in lost(): more threads, or more spots of a thread, than there is room for; or an
  // access that is empty or goes beyond a pair of lines.
  bool note(const LineAccess& access) noexcept;

  // `resolution_ns`: how far apart samples of one thread are; a thread used the line half of it before the
  // first and after the last that was seen. Threads that used it one after the other moved it once, which
  // counts nothing.
  LineMoves moves(uint64_t resolution_ns) const noexcept;

  // Forgets everything, for the next window or the next object at this address. In place: handlers, on stacks
  // of 8 KiB, have no room for another one.
  void clear() noexcept { std::construct_at(this); }

  const ThreadUse* begin() const noexcept { return uses_; }
  const ThreadUse* end() const noexcept { return uses_ + count_; }
  uint64_t lost() const noexcept { return lost_; }

 private:
  ThreadUse* use_of(uint32_t thread) noexcept;

  ThreadUse uses_[kMostLineThreads];
  uint32_t count_ = 0;
  uint64_t lost_ = 0;  // accesses
};

}  // namespace hpcrun
