#include "hpcrun/sample/late_threads.h"

#include "hpcrun/guest/own_memory.h"
#include "hpcrun/guest/syscalls.h"
#include "hpcrun/sample/handler.h"

namespace hpcrun {

// Untouched pages cost nothing, and zeros are a valid empty object.
LateThreads* LateThreads::create() noexcept {
  return static_cast<LateThreads*>(map_own_memory(sizeof(LateThreads), InChild::Copy));
}

void LateThreads::destroy() noexcept {
  unmap_own_memory(this, sizeof *this);
}

void LateThreads::add_memory(StackBounds range, bool is_first_stack) noexcept {
  if (memory_count_ < kMaxMappings) memory_[memory_count_++] = {range, is_first_stack};
}

bool LateThreads::add(ThreadState* thread) noexcept {
  const uint32_t count = count_.load(std::memory_order_relaxed);
  if (count == kMaxLateThreads) return false;
  threads_[count] = thread;
  count_.store(count + 1, std::memory_order_release);
  return true;
}

bool LateThreads::add_descriptor(int descriptor) noexcept {
  const uint32_t count = descriptor_count_.load(std::memory_order_relaxed);
  if (count == kMaxLateThreads) return false;
  descriptors_[count] = descriptor;
  descriptor_count_.store(count + 1, std::memory_order_release);
  return true;
}

bool LateThreads::knows(int tid) const noexcept {
  const uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i)
    if (threads_[i]->tid == tid) return true;
  return false;
}

// Finds the thread's stack. If that is not certain, returns an empty range, and the walk reads by system
// calls. A thread's descriptor is at the upper end of its stack. A mapping that contains both it and the
// stack pointer cannot be unmapped while the thread lives.
StackBounds LateThreads::stack_of(uint64_t sp, bool is_first) const noexcept {
  const auto descriptor = reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  uint32_t low = 0;
  uint32_t high = memory_count_;
  while (low < high) {  // finds the first that ends above sp: they are sorted
    const uint32_t middle = (low + high) / 2;
    if (memory_[middle].range.high > sp)
      high = middle;
    else
      low = middle + 1;
  }
  if (low == memory_count_ || sp < memory_[low].range.low) return {};
  const StackBounds range = memory_[low].range;
  if (is_first) return memory_[low].is_first_stack ? range : StackBounds{};
  return sp < descriptor && descriptor < range.high ? StackBounds{range.low, descriptor} : StackBounds{};
}

ThreadState* LateThreads::take(uint64_t sp) noexcept {
  const int tid = sys_gettid();
  const uint32_t count = count_.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    ThreadState* thread = threads_[i];
    if (thread->tid != tid || thread->taken) continue;
    thread->taken = true;
    thread->unwinder.set_stack(stack_of(sp, tid == process_state.pid));
    return thread;
  }
  return nullptr;
}

ThreadState* adopt_late_thread(uint64_t sp) noexcept {
  LateThreads* late = process_state.late.load(std::memory_order_acquire);
  ThreadState* thread = late ? late->take(sp) : nullptr;
  if (!thread) return nullptr;
  set_this_thread(thread);
  thread->handle.store(reinterpret_cast<uint64_t>(__builtin_thread_pointer()), std::memory_order_release);
  // These read clocks that only the thread itself can read.
  for (uint32_t event = 0; event < process_state.config.event_count; ++event)
    if (process_state.sources[event] == Source::SigtrapUser) start_clocks(*thread);
  return thread;
}

}  // namespace hpcrun
