#pragma once
// Measures how fast a thread proceeds in a loop: the changes of its registers, and of the words of its stack
// that the loop uses, from one sample to the next. Among these are counters that grow with each iteration;
// the analysis finds them from many samples. Contention costs the difference between their growth while the
// other threads at a cache line are frozen (peer_freeze.h), and their growth otherwise.
//
// Async-signal-safe. Zeroed memory is a valid empty object.

#include <cstdint>

#include "hpcrun/model/access_plan.h"

namespace hpcrun {

// A change between two samples of the thread at a line.
struct Progress {
  static constexpr uint16_t kStackWord = 16;  // lower numbers are registers; from here on words of the stack

  uint16_t value;   // which
  int64_t change;   // not 0
  uint64_t cpu_ns;  // in which it changed
  bool is_alone;    // the others were frozen all the time; otherwise no thread was
};

// Belongs to one thread.
class LoopProgress {
 public:
  static constexpr uint32_t kMaxStackWords = 4;
  static constexpr uint32_t kMaxChanges = kGeneralRegisters + kMaxStackWords;

  // Returns the time of the last sample if it found the thread at this line, and apparently in the same loop;
  // otherwise 0.
  uint64_t before(uint64_t line, uint64_t pc, const MachineState& state) const noexcept;

  // Determines what changed since that sample. `out` has room for kMaxChanges. Returns their number. The
  // caller sets is_alone.
  uint32_t changes(const MachineState& state, const Access* accesses, uint32_t count,
                   const MemoryReader& memory, uint64_t cpu_ns, Progress* out) const noexcept;

  // Stores this sample, for the comparison with the next one.
  void note(uint64_t line, uint64_t pc, const MachineState& state, const Access* accesses, uint32_t count,
            const MemoryReader& memory, uint64_t now_ns) noexcept;

  // Drops the last sample, because the thread did something else since.
  void clear() noexcept { now_ns_ = 0; }

  // Returns true if more freezes are useful. A few dozen changes are enough.
  bool wants_more() const noexcept { return alone_ < kMaxAlone; }

  // Returns true if a change of this kind should be recorded; both kinds are recorded about equally often.
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

  uint64_t now_ns_;  // of the last sample; 0: there is none
  uint64_t line_;
  uint64_t pc_;
  MachineState state_;
  uint32_t alone_, free_;  // number of recorded changes
  uint32_t words_;
  Word word_[kMaxStackWords];
};

}  // namespace hpcrun
