#pragma once
// Stacks for the program's threads out of common memory: supplied when a thread is created, so that they are
// there in every process of the program from their first use on. The C library takes them as stacks of the
// program's own, and leaves to us when they can be used again: when the thread has been joined or detached,
// and the kernel has no thread of that number any more.
//
// Who interposes the C library's calls of threads calls these. Not async-signal-safe; from any thread.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

struct ThreadStart {
  void* (*routine)(void*) = nullptr;
  void* argument = nullptr;
};

struct ThreadStack {
  uint64_t low = 0;  // of the guard, which nobody can touch
  uint64_t guard_bytes = 0;
  uint64_t high = 0;
  ThreadStart start;  // what the thread is to run; for who creates it
  void* begin() const noexcept { return reinterpret_cast<void*>(low + guard_bytes); }
  size_t bytes() const noexcept { return high - low - guard_bytes; }
};

// nullptr: nothing is common or comes to be, or there is no room; the thread gets a stack of the C library's
// then. `is_detached`: nobody will join it.
ThreadStack* take_thread_stack(size_t bytes, size_t guard_bytes, bool is_detached) noexcept;

// No thread was made.
void return_thread_stack(ThreadStack* stack) noexcept;

// By the new thread, before it runs the program's code. `thread`: its number in the program's process, also
// where it is a process of its own by then.
void thread_stack_is_used(ThreadStack* stack, int thread) noexcept;

// A thread was joined or detached; any address on its stack, its pthread_t is one.
void thread_stack_is_left(uint64_t address) noexcept;

// Whether the byte lies on one, with the thread's own variables at its end. Async-signal-safe.
bool is_thread_stack(uint64_t address) noexcept;

// Of one of these stacks; 0 elsewhere. Async-signal-safe.
size_t guard_of_thread_stack(uint64_t address) noexcept;

// In the child of a fork: the stacks of all threads but the calling one are left.
void thread_stacks_after_fork() noexcept;

}  // namespace hpcrun
