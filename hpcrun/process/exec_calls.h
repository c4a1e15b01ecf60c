#pragma once
// execve(2) and execveat(2) for a program that calls them through syscall(), with the same effect as the C
// library's functions. The result is -1, with errno. Async-signal-safe, also for children of vfork.

namespace hpcrun {

int execute(const char* path, char* const arguments[], char* const environment[]) noexcept;
int execute_at(int folder, const char* path, char* const arguments[], char* const environment[],
               int flags) noexcept;

}  // namespace hpcrun
