#include "hpcrun/signals/processor_state.h"

#include <asm/prctl.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstddef>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

namespace {

constexpr unsigned long long kAlignmentCheck = 1 << 18;

// Recorded thread pointers, each with the last thread that had it. Entries are never removed: a new thread
// usually gets the memory of one that ended. A search result is verified before it is used.
struct Known {
  std::atomic<uint64_t> pointer{0};
  std::atomic<int> tid{0};
};
constexpr int kSlotBits = 13;
constexpr size_t kSlots = size_t{1} << kSlotBits;
constexpr size_t kProbes = 16;
constinit Known known[kSlots];

constinit std::atomic<bool> has_instructions{false};  // rdfsbase and wrfsbase are available
constinit std::atomic<int> tid_offset{0};             // from a thread pointer; 0: not known

// Returns true if the alignment check changed.
bool set_alignment_check(bool on) noexcept {
  const unsigned long long flags = __builtin_ia32_readeflags_u64();
  if (static_cast<bool>(flags & kAlignmentCheck) == on) [[likely]]
    return false;
  __builtin_ia32_writeeflags_u64(flags ^ kAlignmentCheck);
  return true;
}

uint64_t thread_pointer() noexcept {
  uint64_t pointer = 0;
  if (has_instructions.load(std::memory_order_relaxed)) [[likely]] {
    asm volatile("rdfsbase %0" : "=r"(pointer));
  } else {
    raw_syscall(SYS_arch_prctl, ARCH_GET_FS, reinterpret_cast<long>(&pointer));
  }
  return pointer;
}

void set_thread_pointer(uint64_t pointer) noexcept {
  if (has_instructions.load(std::memory_order_relaxed)) {
    asm volatile("wrfsbase %0" ::"r"(pointer) : "memory");
  } else {
    raw_syscall(SYS_arch_prctl, ARCH_SET_FS, static_cast<long>(pointer));
  }
}

// Calls use(slot) with the slots that may have the pointer, until it returns true or a free slot was passed.
template <typename Use>
bool any_slot(uint64_t pointer, Use use) noexcept {
  constexpr uint64_t kSpread = 0x9e37'79b9'7f4a'7c15;
  const uint64_t first = (pointer >> 6) * kSpread >> (64 - kSlotBits);
  for (size_t i = 0; i < kProbes; ++i) {
    Known& slot = known[(first + i) % kSlots];
    const uint64_t found = slot.pointer.load(std::memory_order_relaxed);
    if (use(slot, found)) return true;
    if (!found) return false;
  }
  return false;
}

bool is_known(uint64_t pointer) noexcept {
  return any_slot(pointer, [=](const Known&, uint64_t found) { return found == pointer; });
}

// If there is no free slot, the pointer is verified again at each signal.
void note(uint64_t pointer, int tid) noexcept {
  any_slot(pointer, [=](Known& slot, uint64_t found) {
    if (!found && !slot.pointer.compare_exchange_strong(found, pointer) && found != pointer) return false;
    if (found && found != pointer) return false;
    slot.tid.store(tid, std::memory_order_relaxed);
    return true;
  });
}

// The C library stores the pointer itself at this offset (the ABI of thread-local storage), and the thread's
// number in the same block.
bool is_of_c_library(uint64_t pointer, int tid) noexcept {
  constexpr uint64_t kSelf = 16;
  uint64_t self = 0;
  if (!safe_load_word(pointer + kSelf, self) || self != pointer) return false;
  const int offset = tid_offset.load(std::memory_order_relaxed);
  int found = 0;
  return offset == 0 ||
         (safe_read(pointer + static_cast<uint64_t>(offset), &found, sizeof found) && found == tid);
}

void find_tid_offset(uint64_t pointer, int tid) noexcept {
  constexpr int kFirst = 64, kLast = 1024;  // glibc's is 720
  for (int offset = kFirst; offset < kLast; offset += static_cast<int>(sizeof(int))) {
    if (*reinterpret_cast<const int*>(pointer + static_cast<uint64_t>(offset)) != tid) continue;
    tid_offset.store(offset, std::memory_order_relaxed);
    return;
  }
}

[[gnu::noinline]] bool find_own_pointer(uint64_t moved, InterruptedState& interrupted) noexcept {
  const int tid = sys_gettid();
  if (is_of_c_library(moved, tid)) {
    note(moved, tid);
    return true;
  }
  for (const Known& slot : known) {
    const uint64_t pointer = slot.pointer.load(std::memory_order_relaxed);
    if (!pointer || slot.tid.load(std::memory_order_relaxed) != tid || !is_of_c_library(pointer, tid))
      continue;
    set_thread_pointer(pointer);
    interrupted.thread_pointer = moved;
    return true;
  }
  return false;
}

}  // namespace

void note_thread_pointer() noexcept {
  constexpr unsigned long kInstructions = 2;  // HWCAP2_FSGSBASE
  if (getauxval(AT_HWCAP2) & kInstructions) has_instructions.store(true, std::memory_order_relaxed);
  const uint64_t pointer = thread_pointer();
  const int tid = sys_gettid();
  if (!tid_offset.load(std::memory_order_relaxed)) find_tid_offset(pointer, tid);
  note(pointer, tid);
}

bool enter_own_state(InterruptedState& interrupted) noexcept {
  interrupted.checks_alignment = set_alignment_check(false);
  interrupted.thread_pointer = 0;
  const uint64_t pointer = thread_pointer();
  if (is_known(pointer)) [[likely]]
    return true;
  return find_own_pointer(pointer, interrupted);
}

void leave_own_state(const InterruptedState& interrupted) noexcept {
  if (interrupted.thread_pointer) [[unlikely]]
    set_thread_pointer(interrupted.thread_pointer);
  if (interrupted.checks_alignment) [[unlikely]]
    set_alignment_check(true);
}

}  // namespace hpcrun
