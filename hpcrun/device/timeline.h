#pragma once
// One thread's time, cut into pieces that each belong to a calling context: who was where while a device had
// nothing to do. The thread cuts, in samples and around device calls; whoever holds the engine's lock finds
// out how much of each piece a device idled, which may be known only later. Async-signal-safe.

#include <atomic>
#include <cstdint>

#include "hpcrun/guest/arena.h"
#include "hpcrun/measurement/format.h"

namespace hpcrun {

// Adds to a cell that others may add to as well.
inline void add_to(ValueCell* cell, uint64_t value, uint64_t samples = 1) noexcept {
  if (!cell || (!value && !samples)) return;
  std::atomic_ref(cell->value).fetch_add(value, std::memory_order_relaxed);
  std::atomic_ref(cell->samples).fetch_add(samples, std::memory_order_relaxed);
}

struct TimelinePiece {
  uint64_t begin;
  uint64_t end;
  ValueCell* cell;  // GPU_IDLE_CAUSE of the context; nullptr: that of the next piece that has one
};

// From one producer, the thread (in handlers or outside, never both at once), to one consumer at a time.
// Grows in the producer's arena and never moves.
class PieceQueue {
 public:
  bool push(Arena& arena, const TimelinePiece& piece) noexcept;  // false: no memory

  const TimelinePiece* front() noexcept;
  void pop() noexcept;

 private:
  struct Chunk {
    static constexpr uint32_t kPieces = 168;  // a page
    std::atomic<Chunk*> next;
    std::atomic<uint32_t> count;
    TimelinePiece pieces[kPieces];
  };
  Chunk* take_chunk(Arena& arena) noexcept;
  void recycle(Chunk* chunk) noexcept;

  std::atomic<Chunk*> first_{nullptr};  // that was ever pushed
  Chunk* tail_ = nullptr;               // the producer's
  Chunk* head_ = nullptr;               // the consumer's
  uint32_t popped_ = 0;                 // of the head
  std::atomic<Chunk*> free_{nullptr};
};

// What devices are doing, as the handler may know it: enough to see that they have nothing to do.
struct DeviceActivity {
  std::atomic<uint32_t> devices{0};      // in use
  std::atomic<uint32_t> outstanding{0};  // tasks of this process
  std::atomic<uint64_t> last_end{0};     // of the tasks that completed
  std::atomic<uint32_t> others{0};       // devices that other processes use too
};

class Timeline {
 public:
  // From `now` on.
  void begin(uint64_t now) noexcept { last_.store(now, std::memory_order_relaxed); }

  // Up to which time its pieces are cut.
  uint64_t last() const noexcept { return last_.load(std::memory_order_acquire); }

  // The time since the last piece belongs to this context.
  void cut(Arena& arena, const DeviceActivity& activity, uint64_t now, ValueCell* cell) noexcept;

  // The same where measuring was paused meanwhile: how much of it counts is found out later.
  void cut_across_pause(Arena& arena, uint64_t now, ValueCell* cell) noexcept;

  // The time since the last piece belongs to the context of the next.
  void cut_open(Arena& arena, uint64_t now) noexcept;

  // Time that belongs to nobody.
  void skip_to(uint64_t now) noexcept;

  // Consumer: resolves pieces that end at or before `until`; idle_before(time) is how long devices have
  // idled by then, summed over devices.
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

  // Consumer: single events are about to be forgotten. The time before which they are not needed here, once
  // what they tell of the last cut is remembered. After resolve().
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
  bool open_ = false;         // the producer's: the last piece waits for its context
  uint64_t unowned_ = 0;      // idle time of pieces that have no context yet
  uint64_t anchor_ = 0;       // a time that was resolved before it was forgotten,
  uint64_t anchor_idle_ = 0;  // and what idle_before() told
};

}  // namespace hpcrun
