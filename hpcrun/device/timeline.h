#pragma once
// Divides one thread's time into pieces that each belong to a calling context: which contexts ran while a
// device was idle. The thread cuts pieces, in samples and around device calls. The holder of the engine's
// lock determines how long a device was idle in each piece, which may be known only later. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/measurement/format.h"

namespace hpcrun {

// Adds to a cell to which other threads may add as well.
inline void add_to(ValueCell* cell, uint64_t value, uint64_t samples = 1) noexcept {
  if (!cell || (!value && !samples)) return;
  std::atomic_ref(cell->value).fetch_add(value, std::memory_order_relaxed);
  std::atomic_ref(cell->samples).fetch_add(samples, std::memory_order_relaxed);
}

struct TimelinePiece {
  uint64_t begin;
  uint64_t end;
  ValueCell* cell;  // GPU_IDLE_CAUSE of the context; nullptr: the cell of the next piece that has one
};

// A queue from one producer, the thread (in handlers or outside, never both at once), to one consumer at a
// time. Grows in the producer's arena and never moves.
class PieceQueue {
 public:
  bool push(Arena& arena, const TimelinePiece& piece) noexcept;  // returns false if there is no memory

  const TimelinePiece* front() noexcept;
  void pop() noexcept;

 private:
  struct Chunk {
    static constexpr uint32_t kPieces = 168;  // a page
    std::atomic<Chunk*> next;
    std::atomic<uint32_t> count;
    TimelinePiece pieces[kPieces];
  };
  static_assert(sizeof(Chunk) <= 4096);
  Chunk* take_chunk(Arena& arena) noexcept;
  void recycle(Chunk* chunk) noexcept;

  std::atomic<Chunk*> first_{nullptr};  // ever pushed
  Chunk* tail_ = nullptr;               // the producer's
  Chunk* head_ = nullptr;               // the consumer's
  uint32_t popped_ = 0;                 // of the head
  std::atomic<Chunk*> free_{nullptr};
};

// State of the devices for handlers: enough to detect that they are idle.
struct DeviceActivity {
  std::atomic<uint32_t> devices{0};      // in use
  std::atomic<uint32_t> outstanding{0};  // tasks of this process
  std::atomic<uint64_t> last_end{0};     // of the tasks that completed
  std::atomic<uint32_t> others{0};       // number of devices that other processes use too
};

class Timeline {
 public:
  // Starts at `now`.
  void begin(uint64_t now) noexcept { last_.store(now, std::memory_order_relaxed); }

  // Returns the end of the last piece.
  uint64_t last() const noexcept { return last_.load(std::memory_order_acquire); }

  // Assigns the time since the last piece to this context.
  void cut(Arena& arena, const DeviceActivity& activity, uint64_t now, ValueCell* cell) noexcept;

  // The same if measuring was paused meanwhile: how much of it counts is determined later.
  void cut_across_pause(Arena& arena, uint64_t now, ValueCell* cell) noexcept;

  // Assigns the time since the last piece to the context of the next piece.
  void cut_open(Arena& arena, uint64_t now) noexcept;

  // Assigns the time up to `now` to no context.
  void skip_to(uint64_t now) noexcept;

  // Consumer: resolves pieces that end at or before `until`. idle_before(time) is how long devices have been
  // idle by then, summed over devices.
  template <typename IdleBefore>
  void resolve(uint64_t until, IdleBefore idle_before) noexcept {
    while (const TimelinePiece* piece = pieces_.front()) {
      if (piece->end > until) return;
      const uint64_t begin = piece->begin == anchor_ ? anchor_idle_ : idle_before(piece->begin);
      const uint64_t end = idle_before(piece->end);
      unowned_ += end > begin ? end - begin : 0;
      if (piece->cell && unowned_) {
        add_to(piece->cell, unowned_);
        unowned_ = 0;
      }
      pieces_.pop();
    }
  }

  // Consumer: must be called after resolve(), before single intervals are discarded. Returns the time from
  // which they are still needed here, after saving the idle time at the last cut.
  template <typename IdleBefore>
  uint64_t needs_since(IdleBefore idle_before) noexcept {
    const uint64_t last = this->last();
    if (const TimelinePiece* piece = pieces_.front()) return piece->begin;
    if (last != anchor_) anchor_idle_ = idle_before(last);
    anchor_ = last;
    return UINT64_MAX;
  }

 private:
  void push(Arena& arena, const TimelinePiece& piece) noexcept;

  std::atomic<uint64_t> last_{0};
  PieceQueue pieces_;
  bool open_ = false;         // the producer's: the last piece has no context yet
  uint64_t unowned_ = 0;      // idle time of pieces that have no context yet
  uint64_t anchor_ = 0;       // a time that was resolved before intervals were discarded,
  uint64_t anchor_idle_ = 0;  // and its idle_before()
};

}  // namespace hpcrun
