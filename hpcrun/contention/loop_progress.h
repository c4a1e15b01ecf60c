#pragma once
// How fast a thread goes on in a loop: what its registers, and the words of its stack that the loop uses,
// have changed by from one sample to the next. Among them are counters that grow with the turns of the loop;
// which ones, is found when many samples are there. How fast these grow while the others at a cache line are
// held (peer_freeze.h), against how fast otherwise, is what contention costs.
//
// Async-signal-safe. Zeroed memory is a valid empty one.

#include <cstdint>

#include "hpcrun/model/access_plan.h"

namespace hpcrun {

// What changed, between two samples of the thread at a line.
struct Progress {
  static constexpr uint16_t kStackWord = 16;  // below: a register's number; from here on a word of the stack

  uint16_t value;   // which
  int64_t change;   // not 0
  uint64_t cpu_ns;  // in which it did
  bool is_alone;    // the others were held all the time; otherwise nobody was held
};

// One thread's.
class LoopProgress {
 public:
  static constexpr uint32_t kMaxStackWords = 4;
  static constexpr uint32_t kMaxChanges = kGeneralRegisters + kMaxStackWords;

  // The time of the sample before, where it found the thread at this line, in the same loop by its looks;
  // else 0.
  uint64_t before(uint64_t line, uint64_t pc, const MachineState& state) const noexcept;

  // What changed since that sample: `out` has room for kMaxChanges. Their count. The caller fills in
  // is_alone.
  uint32_t changes(const MachineState& state, const Access* accesses, uint32_t count,
                   const MemoryReader& memory, uint64_t cpu_ns, Progress* out) const noexcept;

  // This is the sample before the next one.
  void note(uint64_t line, uint64_t pc, const MachineState& state, const Access* accesses, uint32_t count,
            const MemoryReader& memory, uint64_t now_ns) noexcept;

  // What comes next is compared with nothing: the thread did something else.
  void forget() noexcept { now_ns_ = 0; }

  // Is it worth while to hold others for more? A few dozen changes tell all that there is to be told.
  bool wants_more() const noexcept { return alone_ < kMaxAlone; }

  // Is such a change to be told? Of both kinds about as many are.
  bool takes(bool is_alone) noexcept {
    if (is_alone) return ++alone_, true;
    return free_ < alone_ + kMaxFreeAhead && (++free_, true);
  }

 private:
  static constexpr uint32_t kMaxAlone = 16;
  static constexpr uint32_t kMaxFreeAhead = 8;
  static constexpr uint64_t kMaxLoopBytes = 4096;  // bytes of code

  struct Word {
    uint64_t address;
    uint64_t value;
    uint16_t bytes;
  };

  uint64_t now_ns_;  // 0: there is none
  uint64_t line_;
  uint64_t pc_;
  MachineState state_;
  uint32_t alone_, free_;  // that were told
  uint32_t words_;
  Word word_[kMaxStackWords];
};

}  // namespace hpcrun
