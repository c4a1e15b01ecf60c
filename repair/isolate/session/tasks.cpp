#include "repair/isolate/session/tasks.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "hpcrun/guest/full_table.h"

namespace hpcrun {

namespace {

// Prefix, number, suffix; paths in /proc are short.
struct Path {
  char text[64];
};
Path path_of(const char* prefix, int number, const char* suffix) noexcept {
  Path path{};
  size_t at = strlen(prefix);
  memcpy(path.text, prefix, at);
  char digits[12];
  int count = 0;
  do digits[count++] = static_cast<char>('0' + number % 10);
  while (number /= 10);
  while (count) path.text[at++] = digits[--count];
  memcpy(path.text + at, suffix, strlen(suffix) + 1);
  return path;
}

// The state of reading a file or a folder.
struct Reading {
  const char* path;
  bool is_folder;
  int64_t offset;
  char* to;
  size_t bytes;
};

long read_it(void* raw) noexcept {
  const Reading& reading = *static_cast<const Reading*>(raw);
  const int kind = reading.is_folder ? O_DIRECTORY : 0;
  const long descriptor =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(reading.path), O_RDONLY | O_CLOEXEC | kind);
  if (descriptor < 0) return descriptor;
  if (reading.offset) raw_syscall(SYS_lseek, descriptor, reading.offset, SEEK_SET);
  const long read = raw_syscall(reading.is_folder ? SYS_getdents64 : SYS_read, descriptor,
                                reinterpret_cast<long>(reading.to), static_cast<long>(reading.bytes));
  raw_syscall(SYS_close, descriptor);
  return read;
}

// Returns the size of what was read, or a negated errno. If the program has used up its descriptors, another
// process reads it, to which this one is not /proc/self.
long read(Reading reading) noexcept {
  const long bytes = read_it(&reading);
  if (bytes != -EMFILE) return bytes;
  constexpr char kSelf[] = "/proc/self";
  Path path;
  if (!strncmp(reading.path, kSelf, sizeof kSelf - 1)) {
    path = path_of("/proc/", sys_getpid(), reading.path + sizeof kSelf - 1);
    reading.path = path.text;
  }
  return call_with_spare_descriptor(read_it, &reading);
}

// Reads its beginning; negative if there is none.
long read_begin(const Path& path, char* text, size_t bytes) noexcept {
  return read({path.text, false, 0, text, bytes});
}

long read_of_task(int tid, const char* file, char* text, size_t bytes) noexcept {
  return read_begin(path_of("/proc/self/task/", tid, file), text, bytes);
}

// Returns the state in "tid (name) state". The name is the program's and may contain parentheses.
char state_in(const char* text, long bytes) noexcept {
  for (long at = bytes - 3; at >= 0; --at)
    if (text[at] == ')') return text[at + 2];
  return 0;
}

// Parses a number of the kernel, decimal or after 0x, and skips it; false if there is none.
bool take_number(const char*& text, uint64_t& number) noexcept {
  while (*text == ' ') ++text;
  const bool is_hexadecimal = text[0] == '0' && text[1] == 'x';
  if (is_hexadecimal) text += 2;
  const char* const begin = text;
  number = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9')
      number = number * (is_hexadecimal ? 16 : 10) + static_cast<uint64_t>(*text - '0');
    else if (is_hexadecimal && *text >= 'a' && *text <= 'f')
      number = number * 16 + static_cast<uint64_t>(*text - 'a') + 10;
    else
      return text != begin;
  }
}

}  // namespace

long read_entries(const char* folder, int64_t offset, char* entries, size_t bytes) noexcept {
  return read({folder, true, offset, entries, bytes});
}

uint32_t count_tasks() noexcept {
  struct stat folder {};
  if (raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                  reinterpret_cast<long>(&folder), 0) < 0)
    return 0;
  constexpr uint32_t kOfFolders = 2;  // the folder itself and its parent
  return static_cast<uint32_t>(folder.st_nlink) - kOfFolders;
}

bool is_dead_task(int tid) noexcept {
  char text[128];
  const long bytes = read_of_task(tid, "/stat", text, sizeof text);
  if (bytes < 0) return true;
  const char state = state_in(text, bytes);
  return state == 'Z' || state == 'X' || bytes == 0;
}

bool is_stopped_task(int tid) noexcept {
  char text[128];
  const char state = state_in(text, read_begin(path_of("/proc/", tid, "/stat"), text, sizeof text));
  return state == 'T' || state == 't';
}

bool is_runnable_task(int tid) noexcept {
  char text[128];
  return state_in(text, read_of_task(tid, "/stat", text, sizeof text)) == 'R';
}

// The formats are "number argument... stack pc", "-1 stack pc" outside of calls, and "running" (proc(5)).
bool read_call_of(int tid, TaskCall& out) noexcept {
  char text[256];
  const long bytes = read_of_task(tid, "/syscall", text, sizeof text - 1);
  if (bytes <= 0) return false;
  text[bytes] = 0;
  const char* at = text;
  uint64_t number;
  if (!take_number(at, number)) return false;
  out.tid = tid;
  out.number = static_cast<long>(number);
  for (uint64_t& argument : out.arguments)
    if (!take_number(at, argument)) return false;
  return take_number(at, out.stack) && take_number(at, out.pc);
}

bool reads_signals_from_descriptors() noexcept {
  bool found = false;
  for_each_number_in("/proc/self/fd", [&found](int descriptor) {
    const Path path = path_of("/proc/self/fd/", descriptor, "");
    char target[32];
    const long bytes = raw_syscall(SYS_readlinkat, AT_FDCWD, reinterpret_cast<long>(path.text),
                                   reinterpret_cast<long>(target), sizeof target);
    constexpr char kSignalReader[] = "anon_inode:[signalfd]";
    constexpr long kLength = sizeof kSignalReader - 1;
    found |= bytes == kLength && memcmp(target, kSignalReader, kLength) == 0;
  });
  return found;
}

}  // namespace hpcrun
