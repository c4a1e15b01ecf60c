#pragma once
// Determines in which process each system call of a converted thread is made, by its number (x86-64). A
// converted thread shares descriptors, files and sockets with the program's process, but has its own process
// number, signals and address space.

#include <cstdint>

namespace hpcrun {

enum class MadeBy : uint8_t {
  Converted,  // acts on what both processes share
  Original,   // acts on the process or the task and does not wait: the original makes it meanwhile
  Home,       // the thread comes home first; also for calls that no list contains
  HomeAlone,  // all threads come home first: it removes memory, or changes what child processes inherit
};

MadeBy made_by(long number) noexcept;

// Returns the index of the argument that is a path, or -1. A path in /proc may refer to the calling process.
int path_argument(long number) noexcept;

// The argument that is a relative time after which the call ends. Our signals must not prolong that wait.
// Calls that write the remaining time to it are not listed here.
struct TimeLimit {
  enum Kind : uint8_t { None, Timespec, Milliseconds } kind = None;
  uint8_t argument = 0;
};
TimeLimit time_limit(long number, const long* arguments) noexcept;

constexpr int kCallBytes = 2;  // size of the syscall instruction

// Determines whether a handler of the program ends the call that it interrupts (signal(7)). Never: calls that
// do not wait, such as waking a futex. Unrestarted: if the handler was installed without SA_RESTART.
enum class EndsByHandler : uint8_t { Never, Unrestarted, Always };
EndsByHandler ends_by_handler(long number, const long* arguments) noexcept;
// Returns the index of the argument to which a sleeping call writes the remaining time, or -1.
int time_left_argument(long number) noexcept;

}  // namespace hpcrun
