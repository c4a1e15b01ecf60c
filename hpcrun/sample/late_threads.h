#pragma once
// Threads of a process to which the runtime came late. Their states and sources are made by the thread that
// loads the runtime; each takes its own at its first sample, in the handler.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

class LateThreads {
 public:
  // In a mapping of its own; nullptr when there is no memory.
  static LateThreads* create() noexcept;
  void destroy() noexcept;

  // Memory that threads' stacks may lie in: readable, writable, [low, high). Before the first adopt().
  void add_memory(StackBounds range, bool is_first_stack) noexcept;

  // Called by one thread at a time. False when there is no room.
  bool add(ThreadState* thread) noexcept;
  bool add_descriptor(int descriptor) noexcept;

  bool knows(int tid) const noexcept;

  // The state that was made for the calling thread, whose stack pointer is `sp`; nullptr when there is none
  // or it was taken already. Async-signal-safe.
  ThreadState* take(uint64_t sp) noexcept;

  // The descriptors of events on threads, which those that they create inherit. Async-signal-safe.
  template <typename Use>
  void for_each_descriptor(Use use) noexcept {
    const uint32_t count = descriptor_count_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) use(descriptors_[i]);
  }

 private:
  StackBounds stack_of(uint64_t sp, bool is_first) const noexcept;

  static constexpr size_t kMostThreads = 64 * 1024;
  static constexpr size_t kMostMappings = 64 * 1024;  // the kernel's default limit

  struct Memory {
    StackBounds range;
    bool is_first_stack;
  };
  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> descriptor_count_{0};
  uint32_t memory_count_ = 0;
  ThreadState* threads_[kMostThreads];
  std::atomic<int> descriptors_[kMostThreads];
  Memory memory_[kMostMappings];
};

// take(), with what the thread needs to be sampled from now on. Async-signal-safe.
ThreadState* adopt_late_thread(uint64_t sp) noexcept;

}  // namespace hpcrun
