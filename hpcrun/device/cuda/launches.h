#pragma once
// Tracks calls that submitted work to a device, until it is known when that ran. The driver gives each call a
// correlation id, which the records of what ran carry. A call of the runtime's interface contains calls of
// the driver's with ids of their own. It is not specified which of them a record carries, so all of them lead
// to the launch.
//
// Pure: times come from the caller, and tasks are only stored. One caller at a time.

#include <cstdint>

#include "hpcrun/device/engine.h"
#include "hpcrun/guest/arena.h"

namespace hpcrun::cuda {

struct Queue;
struct Timing;  // a pair of events

// The records that must arrive before a launch is complete.
enum class Records : uint8_t {
  One,   // for a kernel: the record completes its task
  Parts  // for copies, fills and graphs: each record is a part, `expected` of them if that is known
};

struct Launch {
  static constexpr uint32_t kMaxIds = 4;

  Launch* next;  // in the same queue, in the order of the calls; or in the free list
  Launch* previous;
  Queue* queue;
  Task* task;
  uint64_t sequence;    // number among all launches, from 1
  uint64_t covered_ns;  // end of a wait that included it; 0: none yet
  uint32_t expected;    // 0: not known
  uint32_t received;
  uint32_t ids[kMaxIds];
  uint32_t id_count;
  Records records;
  Timing* timing;  // nullptr: times come from records, or are not available
};

// The launches of one queue, owned by the queue.
struct LaunchList {
  Launch* first = nullptr;
  Launch* last = nullptr;
};

class Launches {
 public:
  // Adds a launch; returns nullptr if there is no memory.
  Launch* add(LaunchList& list, Queue* queue, Task* task, Records records, uint32_t expected) noexcept;

  // Makes this id lead to the launch. Returns false if there is no memory, or if the launch has too many ids.
  bool name(Launch& launch, uint32_t id) noexcept;

  Launch* find(uint32_t id) const noexcept;

  // Counts a record. Returns true if no more are expected; the caller must then remove the launch.
  bool receive(Launch& launch) noexcept;

  // Removes a launch. Its ids may be reused.
  void remove(LaunchList& list, Launch& launch) noexcept;

  // Marks all launches up to `sequence` as run: a wait has ended that began when `sequence` was the last
  // launch.
  static void cover(LaunchList& list, uint64_t sequence, uint64_t now_ns) noexcept;

  // Returns the first launch of the list that was covered long enough ago for its records to have arrived.
  static Launch* overdue(const LaunchList& list, uint64_t now_ns) noexcept;

  uint64_t last_sequence() const noexcept { return last_sequence_; }
  uint32_t count() const noexcept { return count_; }

  // Resets the state in a forked child: the memory was not copied.
  void reset_after_fork() noexcept { *this = Launches{}; }

  // The driver delivers its buffers at flushes, and each wait makes one.
  static constexpr uint64_t kOverdueNs = 1'000'000'000;

 private:
  struct Slot {
    uint32_t id;
    Launch* launch;  // nullptr: free
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
