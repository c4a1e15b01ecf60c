#pragma once
// A running process that the runtime is to be loaded into.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "prof/attach/allocator_calls.h"

namespace prof {

struct TargetProcess {
  int pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<std::string> command;  // its arguments

  // Addresses in it.
  uint64_t pthread_create = 0;
  uint64_t dlopen = 0;
  uint64_t dlsym = 0;
  uint64_t dlerror = 0;
  uint64_t system_call = 0;              // an instruction `syscall` that a `ret` follows
  uint64_t signal_return = 0;            // where signal handlers return to
  CodeRange loader;                      // of a program that starts: nothing is ready to be called
  std::vector<CodeRange> delicate_code;  // of the C library and of libraries that allocate memory
  std::vector<CodeRange> own_allocator;  // the program's code, if it has an allocator of its own
  AllocatorCalls allocator_calls;        // and what of it that is
};

// Throws CommandError (125) with one line that names the reason and the remedy where the runtime cannot be
// loaded: no such process, a kernel thread, another user's, traced, in another container, static, 32-bit, Go.
// Waits for a program that only just starts.
TargetProcess examine_process(int pid);

// The threads of a process that may be stopped at once: neither stopped nor in an uninterruptible call.
std::vector<int> threads_of(int pid);

}  // namespace prof
