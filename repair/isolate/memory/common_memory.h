#pragma once
// Common memory is shared by all threads of a program, including converted ones: one file in memory, mapped
// shared at the file offset that equals the address. No table is needed to translate addresses in any
// process. TMI (section 3.2) does the same for heap and globals; here it is all memory that the program
// writes: data of its load modules, heap, stacks, and what it maps.
//
// Memory is in one of four states:
// - none: nothing is common;
// - awaited: memory is private as usual, and make_common() will be called once a page is to be isolated;
// - common;
// - left: after fork(), parent and child map the same file privately. make_common() starts again from there.
//
// Nothing here calls the C library or takes a lock that the program could hold.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

enum class OtherThreads : uint8_t {
  None,     // there are none; make_common() fails if there are
  Stopped,  // they are stopped until it is done, and none sleeps at a shared futex
};

// Moves all private writable memory of the process into common memory, and reserves address space for later
// mappings. A later call moves what was mapped since, such as data of loaded libraries. Returns false if that
// fails; memory is then as before, or private, and reason_not_common() has the reason. Async-signal-safe only
// with OtherThreads::Stopped. TMI, section 3.2.
bool make_common(OtherThreads others = OtherThreads::None) noexcept;

// Enters the awaited state: a later make_common(OtherThreads::Stopped) makes memory common. Returns false if
// that could not succeed; reason_not_common() has the reason. Not async-signal-safe.
bool await_common() noexcept;

// Async-signal-safe.
bool is_common_awaited() noexcept;

// Returns one clause for the report, or nullptr.
const char* reason_not_common() noexcept;

// Makes common memory private. Must be called before the process forks, so that parent and child each keep
// their own. Other threads may run, but none may be converted; those that sleep at a shared futex wake
// spuriously (rekey_futex_waiters.h). Returns false if the kernel refuses; the process must not fork then.
// Does nothing if nothing is common. Async-signal-safe.
bool leave_common() noexcept;

// Must be called in a forked child before anything else here. Async-signal-safe.
void forked_from_common() noexcept;

// Makes common memory private permanently. A process with one thread has ordinary anonymous memory and no
// reservation afterwards; one with more threads stays as leave_common() left it. Returns false if the kernel
// refuses. Not async-signal-safe.
bool end_common() noexcept;

// True if memory is as leave_common() left it. Async-signal-safe.
bool has_left_common() noexcept;

// True if the byte lies in common memory now. Async-signal-safe.
bool is_common(const void* address) noexcept;

// True if the whole range lies in the reservation: address space that all processes map from the file
// beforehand, and that stays mapped when the program unmaps it. Async-signal-safe.
bool is_reserved(const void* address, size_t bytes) noexcept;

// Returns the descriptor of the file, or -1 if memory is not common. It is close-on-exec and one of the
// runtime's own (hpcrun/guest/descriptors.h).
int common_memory_file() noexcept;

}  // namespace hpcrun
