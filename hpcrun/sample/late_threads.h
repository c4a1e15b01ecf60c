#pragma once
// Holds the threads of a process that the runtime was attached to. The thread that loads the runtime creates
// their states and sources. Each thread takes its own at its first sample, in the handler.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "hpcrun/sample/state.h"

namespace hpcrun {

class LateThreads {
 public:
  // Creates an object in a mapping of its own; returns nullptr if there is no memory.
  static LateThreads* create() noexcept;
  void destroy() noexcept;

  // Adds readable and writable memory that may contain threads' stacks: [low, high). Must be called before
  // the first adopt_late_thread().
  void add_memory(StackBounds range, bool is_first_stack) noexcept;

  // Adds a thread. Must be called by one thread at a time. Returns false if there is no room.
  bool add(ThreadState* thread) noexcept;
  bool add_descriptor(int descriptor) noexcept;

  bool knows(int tid) const noexcept;

  // Takes the state that was created for the calling thread, whose stack pointer is `sp`. Returns nullptr if
  // there is none or it was taken already. Async-signal-safe.
  ThreadState* take(uint64_t sp) noexcept;

  // Calls use() with the descriptors of events on threads, which threads that they create inherit.
  // Async-signal-safe.
  template <typename Use>
  void for_each_descriptor(Use use) noexcept {
    const uint32_t count = descriptor_count_.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i) use(descriptors_[i]);
  }

 private:
  StackBounds stack_of(uint64_t sp, bool is_first) const noexcept;

  static constexpr size_t kMaxLateThreads = 64 * 1024;
  static constexpr size_t kMaxMappings = 64 * 1024;  // the kernel's default limit

  struct Memory {
    StackBounds range;
    bool is_first_stack;
  };
  std::atomic<uint32_t> count_{0};
  std::atomic<uint32_t> descriptor_count_{0};
  uint32_t memory_count_ = 0;
  ThreadState* threads_[kMaxLateThreads];
  std::atomic<int> descriptors_[kMaxLateThreads];
  Memory memory_[kMaxMappings];
};

// Takes the calling thread's state and prepares it for sampling. Async-signal-safe.
ThreadState* adopt_late_thread(uint64_t sp) noexcept;

}  // namespace hpcrun
