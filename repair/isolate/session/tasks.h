#pragma once
// The tasks of the calling process, and what it has open, as /proc tells. All calls are async-signal-safe.

#include <fcntl.h>
#include <stddef.h>

#include <cstdint>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

// linux_dirent64 (getdents64(2)): the name follows.
struct FolderEntry {
  uint64_t inode;
  int64_t next;
  unsigned short bytes;
  unsigned char type;
};
constexpr size_t kNameOffset = 19;

// Some entries of a folder, from `offset` on. Returns their bytes, 0 at the end, or a negated errno. Works
// where the program has used up its descriptors.
long read_entries(const char* folder, int64_t offset, char* entries, size_t bytes) noexcept;

// use(int) for every entry of a folder of /proc whose name is a number.
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

// How many there are, a main thread that ended before the others included; 0: /proc does not tell.
// for_each_task() may leave some out where others end meanwhile.
uint32_t count_tasks() noexcept;

// Of a main thread that ended before the others, or one that has just ended.
bool is_dead_task(int tid) noexcept;

// By a signal, with its process, or by a debugger. Of any process.
bool is_stopped_task(int tid) noexcept;

// It has a processor, or waits for one.
bool is_runnable_task(int tid) noexcept;

// The call of the kernel that a task waits in.
struct TaskCall {
  int tid = 0;
  long number = 0;
  uint64_t arguments[6] = {};
  uint64_t stack = 0;  // of the program
  uint64_t pc = 0;     // behind the instruction
};
// False: it waits in none.
bool read_call_of(int tid, TaskCall& out) noexcept;

bool reads_signals_from_descriptors() noexcept;

}  // namespace hpcrun
