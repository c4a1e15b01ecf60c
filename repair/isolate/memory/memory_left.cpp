#include "repair/isolate/memory/memory_left.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/contract/pages.h"

namespace hpcrun {

namespace {

constexpr uint64_t kUnknown = ~uint64_t{0};

// Returns the first number after `word` in the file, or kUnknown.
uint64_t number_in(const char* path, const char* word, int skipped = 0) noexcept {
  char text[2048];
  const long file = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (file < 0) return kUnknown;
  const long bytes = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text - 1);
  raw_syscall(SYS_close, file);
  if (bytes <= 0) return kUnknown;
  text[bytes] = '\0';
  const char* at = strstr(text, word);
  if (!at) return kUnknown;
  at += strlen(word);
  for (; skipped > 0 && (at = strchr(at, ' ')); --skipped) ++at;
  if (!at) return kUnknown;
  while (*at == ' ') ++at;
  if (*at < '0' || *at > '9') return kUnknown;
  uint64_t number = 0;
  for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + static_cast<uint64_t>(*at - '0');
  return number;
}

}  // namespace

bool has_memory_for_twice() noexcept {
  const uint64_t pages = number_in("/proc/self/statm", "", 1);  // resident
  if (pages == kUnknown) return true;
  uint64_t left = kUnknown;
  if (const uint64_t kib = number_in("/proc/meminfo", "MemAvailable:"); kib != kUnknown) left = kib * 1024;
  const uint64_t most = number_in("/sys/fs/cgroup/memory.max", "");
  const uint64_t used = number_in("/sys/fs/cgroup/memory.current", "");
  if (most != kUnknown && used != kUnknown) left = std::min(left, most - std::min(most, used));
  return left / kPageBytes >= pages;
}

}  // namespace hpcrun
