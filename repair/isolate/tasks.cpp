#include "repair/isolate/tasks.h"

#include <cstring>

namespace hpcrun {

namespace {

// prefix, number, suffix; the path of something in /proc is short.
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

}  // namespace

bool is_dead_task(int tid) noexcept {
  const Path path = path_of("/proc/self/task/", tid, "/stat");
  const long descriptor =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path.text), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return true;
  char text[128];
  const long bytes = raw_syscall(SYS_read, descriptor, reinterpret_cast<long>(text), sizeof text);
  raw_syscall(SYS_close, descriptor);
  // "tid (name) state": the name is the program's and may have brackets.
  for (long at = bytes - 3; at >= 0; --at)
    if (text[at] == ')') return text[at + 2] == 'Z' || text[at + 2] == 'X';
  return bytes <= 0;
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
