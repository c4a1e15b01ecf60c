#pragma once
// Stacks for the program's threads in common memory. They are supplied when a thread is created, so that
// every process of the program has them from their first use on. The C library treats them as stacks that the
// program allocated, and leaves their reuse to us: a stack is free again when the thread was joined or
// detached and the kernel has no thread of that number any more.
//
// Called by the code that interposes on the C library's thread calls. Not async-signal-safe; from any thread.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct ThreadStart {
  void* (*routine)(void*) = nullptr;
  void* argument = nullptr;
};

struct ThreadStack {
  uint64_t low = 0;  // of the guard, which is not accessible
  uint64_t guard_bytes = 0;
  uint64_t high = 0;
  ThreadStart start;  // what the thread is to run; for the code that creates it
  void* begin() const noexcept { return reinterpret_cast<void*>(low + guard_bytes); }
  size_t bytes() const noexcept { return high - low - guard_bytes; }
};

// Returns nullptr if no memory is common or about to be, or if there is no room. The thread gets a stack of
// the C library's then. `is_detached`: the thread will not be joined.
ThreadStack* take_thread_stack(size_t bytes, size_t guard_bytes, bool is_detached) noexcept;

// Returns the stack because no thread was created.
void return_thread_stack(ThreadStack* stack) noexcept;

// Called by the new thread before it runs the program's code. `thread`: its number in the program's process,
// even if it is already a converted thread.
void thread_stack_is_used(ThreadStack* stack, int thread) noexcept;

// Called when a thread was joined or detached. `address` is any address on its stack, such as its pthread_t.
void thread_stack_is_left(uint64_t address) noexcept;

// True if the byte lies on one of these stacks, including the thread-local variables at its end.
// Async-signal-safe.
bool is_thread_stack(uint64_t address) noexcept;

// Returns the guard size of the stack at `address`, or 0 elsewhere. Async-signal-safe.
size_t guard_of_thread_stack(uint64_t address) noexcept;

// In the child of a fork: marks the stacks of all threads but the calling one as left.
void thread_stacks_after_fork() noexcept;

}  // namespace hpcrun
