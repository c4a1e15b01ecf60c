#pragma once
// Where a converted thread's system calls are made, by their numbers (x86-64). A converted thread has
// descriptors, files and sockets in common with the program's process, but neither its number, its signals
// nor its address space.

#include <cstdint>

namespace hpcrun {

enum class MadeBy : uint8_t {
  Converted,  // acts on what both have in common
  Original,   // acts on the process or the task and does not wait: the original makes it meanwhile
  Home,       // the thread is given back first. What is in no list, too
  HomeAlone,  // all threads are: it takes from an address space, or changes what processes inherit
};

MadeBy made_by(long number) noexcept;

// Which argument is a path; -1: none. A path in /proc may be the caller's own.
int path_argument(long number) noexcept;

// Which argument is a relative time after which the call ends: a program that is interrupted by us must not
// wait longer for it. The calls that write the rest into it are not here.
struct TimeLimit {
  enum Kind : uint8_t { None, Timespec, Milliseconds } kind = None;
  uint8_t argument = 0;
};
TimeLimit time_limit(long number, const long* arguments) noexcept;

constexpr int kCallBytes = 2;  // of the instruction, syscall

// What a handler of the program's does to the call that it interrupts (signal(7)): nothing, for calls that do
// not wait, as the waking of a futex; ends it, where it was set without SA_RESTART; or ends it always.
enum class EndsByHandler : uint8_t { Never, Unrestarted, Always };
EndsByHandler ends_by_handler(long number, const long* arguments) noexcept;
// Of a call that sleeps: which argument says where to write what is left of it; -1: none.
int time_left_argument(long number) noexcept;

}  // namespace hpcrun
