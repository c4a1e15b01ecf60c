#pragma once
// Determines whether threads share a cache line, and how. From the reads and writes of each thread in a
// window of time, it estimates how often the line moved between processors. A move is counted as true sharing
// if the two threads use the same bytes, and as false sharing if their data only lie side by side. Works on
// samples: each represents a number of accesses (TMI, section 3.1), which are assumed to be evenly
// distributed between the first and the last sample.
//
// Only one thread at a time may use a window. No allocation; async-signal-safe.

#include <cstdint>
#include <memory>

#include "hpcrun/model/memory_access.h"

namespace hpcrun {

struct LineAccess {
  uint32_t thread;  // any number that identifies the thread
  uint8_t offset;   // in the line, or in a pair of lines
  uint8_t bytes;
  AccessKind kind;
  uint64_t time_ns;
  uint64_t stands_for;  // accesses
};

// Bytes of the line that one thread uses in one way.
struct Spot {
  uint8_t offset = 0;
  uint8_t bytes = 0;
  AccessKind kind = AccessKind::Read;
  uint64_t accesses = 0;
};

constexpr uint32_t kMaxSpots = 12;
constexpr uint32_t kMaxLineThreads = 16;

struct ThreadUse {
  uint32_t thread = 0;
  uint32_t spot_count = 0;
  uint64_t first_ns = 0;
  uint64_t last_ns = 0;
  uint64_t accesses = 0;  // of all spots
  Spot spots[kMaxSpots];
};

// Estimated number of moves of the line. A move is counted once, and classified by what the two threads did
// before and after it.
struct LineMoves {
  double false_write_write = 0;
  double false_read_write = 0;
  double true_write_write = 0;
  double true_read_write = 0;

  [[nodiscard]] double of_false_sharing() const noexcept { return false_write_write + false_read_write; }
  double of_true_sharing() const noexcept { return true_write_write + true_read_write; }
  [[nodiscard]] double total() const noexcept { return of_false_sharing() + of_true_sharing(); }
  LineMoves& operator+=(const LineMoves& more) noexcept;
};

enum class Sharing : uint8_t { None, False, True, Mixed };

// Classifies the moves. Mixed: both kinds are at least a tenth. None: fewer than `least` moves.
Sharing verdict(const LineMoves& moves, double least) noexcept;

class LineWindow {
 public:
  // Records an access. Returns false, and adds to lost(), if there is no room for another thread or for
  // another spot of a thread. The same holds if the access is empty or extends past a pair of lines.
  bool note(const LineAccess& access) noexcept;

  // Estimates the moves. `resolution_ns`: the interval between samples of one thread. A thread is assumed to
  // use the line from half of it before its first sample to half of it after its last. Threads that used the
  // line one after the other moved it once, which is not counted.
  [[nodiscard]] LineMoves moves(uint64_t resolution_ns) const noexcept;

  // Resets the window, for the next period or the next object at this address. In place, because handlers on
  // stacks of 8 KiB have no room for a second one.
  void clear() noexcept { std::construct_at(this); }

  [[nodiscard]] const ThreadUse* begin() const noexcept { return uses_; }
  const ThreadUse* end() const noexcept { return uses_ + count_; }
  [[nodiscard]] uint64_t lost() const noexcept { return lost_; }

 private:
  ThreadUse* use_of(uint32_t thread) noexcept;

  ThreadUse uses_[kMaxLineThreads];
  uint32_t count_ = 0;
  uint64_t lost_ = 0;  // accesses
};

}  // namespace hpcrun
