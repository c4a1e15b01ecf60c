#pragma once
// Calls that gave a device something to do, until it is known when that ran. The driver gives each call a
// correlation id, which the records of what ran carry. A call of the runtime's interface contains calls of
// the driver's with ids of their own, and which of them a record carries is not said: all lead to the launch.
//
// Pure: times come from the caller, tasks are only kept. One caller at a time.

#include <cstdint>

#include "hpcrun/device/engine.h"
#include "hpcrun/guest/arena.h"

namespace hpcrun::cuda {

struct Queue;
struct Timing;  // of events

// What of a launch's records has to arrive before it is over.
enum class Records : uint8_t {
  One,   // a kernel: its task is completed by the record
  Parts  // copies, fills, graphs: each record is a part; `expected` of them, if that is known
};

struct Launch {
  static constexpr uint32_t kMostIds = 4;

  Launch* next;  // of the same queue, in the order of the calls; in the free list
  Launch* previous;
  Queue* queue;
  Task* task;
  uint64_t sequence;    // of all launches, from 1
  uint64_t covered_ns;  // when a wait for it had ended; 0: not yet
  uint32_t expected;    // 0: not known
  uint32_t received;
  uint32_t ids[kMostIds];
  uint32_t id_count;
  Records records;
  Timing* timing;  // nullptr: times come from records, or not at all
};

// The launches of one queue; the queue's.
struct LaunchList {
  Launch* first = nullptr;
  Launch* last = nullptr;
};

class Launches {
 public:
  // nullptr: no memory.
  Launch* add(LaunchList& list, Queue* queue, Task* task, Records records, uint32_t expected) noexcept;

  // From now on this id leads to the launch. False: no memory, or it has too many.
  bool name(Launch& launch, uint32_t id) noexcept;

  Launch* find(uint32_t id) const noexcept;

  // A record came. True when nothing more is to come: the caller removes it.
  bool receive(Launch& launch) noexcept;

  // The launch is over; its ids may come to mean others.
  void remove(LaunchList& list, Launch& launch) noexcept;

  // A wait has ended that began when `sequence` was the last launch: all up to there have run.
  static void cover(LaunchList& list, uint64_t sequence, uint64_t now_ns) noexcept;

  // The first launch of the list that was covered long enough ago for its records to have come.
  static Launch* overdue(const LaunchList& list, uint64_t now_ns) noexcept;

  uint64_t last_sequence() const noexcept { return last_sequence_; }
  uint32_t count() const noexcept { return count_; }

  // In a forked child: the memory was not copied.
  void forget_all() noexcept { *this = Launches{}; }

  // The driver's buffers are handed over at flushes, of which each wait makes one.
  static constexpr uint64_t kOverdue_ns = 1'000'000'000;

 private:
  struct Slot {
    uint32_t id;
    Launch* launch;  // nullptr: the slot is free
  };

  bool grow() noexcept;
  uint32_t home(uint32_t id) const noexcept { return id * 0x9E3779B1u >> shift_; }
  void erase(uint32_t id) noexcept;

  Arena arena_;
  Launch* free_ = nullptr;
  Slot* slots_ = nullptr;
  uint32_t mask_ = 0;
  uint32_t shift_ = 32;
  uint32_t used_ = 0;
  uint32_t count_ = 0;
  uint64_t last_sequence_ = 0;
};

}  // namespace hpcrun::cuda
