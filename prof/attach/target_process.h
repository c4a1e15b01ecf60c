#pragma once
// A running process into which the runtime will be loaded.

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

  // Addresses in the process.
  uint64_t pthread_create = 0;
  uint64_t dlopen = 0;
  uint64_t dlsym = 0;
  uint64_t dlerror = 0;
  uint64_t system_call = 0;              // an instruction `syscall` that a `ret` follows
  uint64_t signal_return = 0;            // where signal handlers return
  CodeRange loader;                      // of a program that is starting: nothing can be called yet
  std::vector<CodeRange> delicate_code;  // of the C library and of libraries that allocate memory
  std::vector<CodeRange> own_allocator;  // the program's code, if it has an allocator of its own
  AllocatorCalls allocator_calls;        // the part of own_allocator that allocates
};

// Throws CommandError (125) with one line, reason and remedy, if the runtime cannot be loaded. Reasons are:
// no such process, a kernel thread, another user's process, a traced one, one in another container, a static,
// 32-bit or Go program. Waits for a program that has only just started.
TargetProcess examine_process(int pid);

// Returns the threads of a process that can be stopped at once: neither stopped already nor in an
// uninterruptible call.
std::vector<int> threads_of(int pid);

}  // namespace prof
