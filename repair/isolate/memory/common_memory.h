#pragma once
// Memory that all threads of a program have in common, also where threads have become processes: one file in
// memory, mapped shared at the file offsets that equal the addresses, so that who knows an address knows the
// offset in every process, without tables. TMI §3.2 has the same of heap and globals, by a file for each;
// here it is all that the program writes: data of its load modules, heap, stacks, and what it maps.
//
// Four states: nothing common; awaited, when all is private as ever and will be common when somebody asks for
// it; common; and left, after fork(), when parent and child map the same file privately, as the kernel's own
// fork would have it. From there make_common() begins anew.
//
// Nothing here calls the C library or takes a lock that the program could hold.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

enum class OtherThreads : uint8_t {
  None,     // with any, it declines
  Stopped,  // none of them runs until it is done, nor sleeps on a futex by a key that is shared
};

// Moves all that the process writes and does not share with others into common memory, and reserves address
// space for what is mapped later. Called again it moves what came since otherwise (the data of libraries that
// were loaded). False: why_not_common() says why, and everything is as it was or private again. Not
// async-signal-safe but where all others are stopped. TMI §3.2.
bool make_common(OtherThreads others = OtherThreads::None) noexcept;

// Nothing is common until make_common() is called, with all other threads stopped. False: why_not_common()
// says why that would be in vain. Not async-signal-safe.
bool await_common() noexcept;

// Async-signal-safe.
bool is_common_awaited() noexcept;

// One clause for people, or nullptr.
const char* why_not_common() noexcept;

// Before the process forks: from now on its memory is private, and what parent and child then write is their
// own. Other threads may run, in this process alone; those that sleep on a futex by a key that is shared wake
// as by chance (stranded_sleepers.h). False: the kernel refused, and the process must not fork. Nothing
// happens where nothing is common.
// Async-signal-safe.
bool leave_common() noexcept;

// In the child, before it uses anything else of this. Async-signal-safe.
void forked_from_common() noexcept;

// Leaves common memory for good. A process that has one thread has no reservation any more, and all that it
// uses is private anonymous memory again; one with more has what leave_common() left it. False: the kernel
// refused. Not async-signal-safe.
bool end_common() noexcept;

// Whether memory is as leave_common() left it. Async-signal-safe.
bool has_left_common() noexcept;

// Whether the byte lies in common memory now. Async-signal-safe.
bool is_common(const void* address) noexcept;

// Whether the whole range is of the address space that is mapped from the file in all processes beforehand,
// and stays mapped when it is given back. Async-signal-safe.
bool is_reserved(const void* address, size_t bytes) noexcept;

// Its descriptor, or -1 while there is none. Close-on-exec, one of the runtime's own
// (hpcrun/guest/descriptors.h).
int common_memory_file() noexcept;

}  // namespace hpcrun
