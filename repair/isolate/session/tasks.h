#pragma once
// Reads the tasks of the calling process and its open descriptors from /proc. All calls are
// async-signal-safe.

#include <fcntl.h>
#include <stddef.h>

#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// linux_dirent64 (getdents64(2)); the name follows it.
struct FolderEntry {
  uint64_t inode;
  int64_t next;
  unsigned short bytes;
  unsigned char type;
};
constexpr size_t kNameOffset = 19;

// Reads some entries of a folder, from `offset` on. Returns their size in bytes, 0 at the end, or a negated
// errno. Works even if the program has used up its descriptors.
long read_entries(const char* folder, int64_t offset, char* entries, size_t bytes) noexcept;

// Calls use(int) for every entry of a folder of /proc whose name is a number.
template <typename Use>
void for_each_number_in(const char* folder, Use use) noexcept {
  alignas(FolderEntry) char entries[2048];
  int64_t offset = 0;
  long bytes;
  while ((bytes = read_entries(folder, offset, entries, sizeof entries)) > 0) {
    for (long at = 0; at < bytes;) {
      const auto* entry = reinterpret_cast<const FolderEntry*>(entries + at);
      const char* name = entries + at + kNameOffset;
      at += entry->bytes;
      offset = entry->next;
      int number = 0;
      const char* digit = name;
      for (; *digit >= '0' && *digit <= '9'; ++digit) number = 10 * number + (*digit - '0');
      if (digit != name && !*digit) use(number);
    }
  }
}

template <typename Use>
void for_each_task(Use use) noexcept {
  for_each_number_in("/proc/self/task", use);
}

// Returns the number of tasks, including a main thread that ended before the others; 0 if /proc is not
// readable. for_each_task() may miss tasks if others end meanwhile.
uint32_t count_tasks() noexcept;

// True for a main thread that ended before the others, and for a task that has just ended.
bool is_dead_task(int tid) noexcept;

// True if a signal stopped the task with its process, or a debugger did. For tasks of any process.
bool is_stopped_task(int tid) noexcept;

// True if the task has a processor or waits for one.
bool is_runnable_task(int tid) noexcept;

// The system call in which a task waits.
struct TaskCall {
  int tid = 0;
  long number = 0;
  uint64_t arguments[6] = {};
  uint64_t stack = 0;  // stack pointer of the program
  uint64_t pc = 0;     // after the instruction
};
// Returns false if the task waits in no system call.
bool read_call_of(int tid, TaskCall& out) noexcept;

bool reads_signals_from_descriptors() noexcept;

}  // namespace hpcrun
