#include "repair/isolate/memory/cmdline_mirror.h"

#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/syscall.h>

#include <charconv>
#include <cstdint>
#include <cstring>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/common_calls.h"

namespace hpcrun {

namespace {

// proc(5), /proc/PID/stat.
enum Field : unsigned {
  kStartCode = 26,
  kEndCode = 27,
  kStartStack = 28,
  kStartData = 45,
  kEndData = 46,
  kStartBreak = 47,
  kArgumentsStart = 48,
  kArgumentsEnd = 49,
  kEnvironmentStart = 50,
  kEnvironmentEnd = 51,
  kFields
};

bool read_fields(uint64_t (&fields)[kFields]) noexcept {
  char text[2048];
  const long file =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/stat"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const long bytes = raw_syscall(SYS_read, file, reinterpret_cast<long>(text), sizeof text);
  raw_syscall(SYS_close, file);
  if (bytes <= 0) return false;
  const char* const end = text + bytes;
  // After the name, which may contain any characters.
  const auto* at = static_cast<const char*>(memrchr(text, ')', static_cast<size_t>(bytes)));
  if (!at) return false;
  ++at;
  for (unsigned field = 3; field < kFields; ++field) {
    while (at < end && *at == ' ') ++at;
    std::from_chars(at, end, fields[field]);
    while (at < end && *at != ' ') ++at;
  }
  return at < end;
}

uint64_t shown = 0;
uint64_t shown_bytes = 0;

}  // namespace

void mirror_cmdline() noexcept {
  uint64_t fields[kFields] = {};
  if (!read_fields(fields)) return;
  const uint64_t from = fields[kArgumentsStart], to = fields[kEnvironmentEnd];
  constexpr uint64_t kMaxBytes = uint64_t{64} << 20;
  if (!from || to <= from || to - from > kMaxBytes || fields[kEnvironmentStart] < from) return;
  void* const copy = sys_mmap(nullptr, to - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return;
  memcpy(copy, reinterpret_cast<const void*>(from), to - from);
  const auto moved = [&](Field field) { return reinterpret_cast<uint64_t>(copy) + (fields[field] - from); };

  prctl_mm_map map{};
  map.start_code = fields[kStartCode];
  map.end_code = fields[kEndCode];
  map.start_data = fields[kStartData];
  map.end_data = fields[kEndData];
  map.start_brk = fields[kStartBreak];
  map.brk = static_cast<uint64_t>(raw_syscall(SYS_brk, 0));
  map.start_stack = fields[kStartStack];
  map.arg_start = moved(kArgumentsStart);
  map.arg_end = moved(kArgumentsEnd);
  map.env_start = moved(kEnvironmentStart);
  map.env_end = moved(kEnvironmentEnd);
  map.exe_fd = static_cast<uint32_t>(-1);  // unchanged
  if (raw_syscall(SYS_prctl, PR_SET_MM, PR_SET_MM_MAP, reinterpret_cast<long>(&map), sizeof map) < 0) {
    sys_munmap(copy, to - from);
    return;
  }
  if (shown == from) common_munmap(reinterpret_cast<void*>(shown), shown_bytes);
  shown = map.arg_start;
  shown_bytes = to - from;
}

}  // namespace hpcrun
