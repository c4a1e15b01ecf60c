#include "hpcrun/process/proc_file.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {

size_t read_proc(const char* path, char* out, size_t bytes) noexcept {
  const long descriptor =
      raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  size_t length = 0;
  while (length < bytes) {
    const long got = raw_syscall(SYS_read, descriptor, reinterpret_cast<long>(out + length),
                                 static_cast<long>(bytes - length));
    if (got <= 0) break;
    length += static_cast<size_t>(got);
  }
  raw_syscall(SYS_close, descriptor);
  return length;
}

}  // namespace hpcrun
