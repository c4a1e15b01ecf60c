#include "hpcrun/guest/safe_load.h"

#include <errno.h>
#include <sys/uio.h>

#include <atomic>

#include "hpcrun/guest/syscalls.h"

namespace hpcrun {
namespace {

std::atomic<SafeLoadMethod> method{SafeLoadMethod::ProcessVmReadv};

constexpr uint64_t kPage = 4096;
constexpr long kNoSuchOperation = ~0L;
constexpr long kKernelSignalSetBytes = 8;

// True if the address is readable: the kernel copies the set before it checks the operation (kernel/signal.c,
// rt_sigprocmask).
bool readable(uint64_t address) noexcept {
  const long result = raw_syscall(SYS_rt_sigprocmask, kNoSuchOperation,
                                  static_cast<long>(address & ~uint64_t{7}), 0, kKernelSignalSetBytes);
  return result == -EINVAL;
}

bool probe_and_copy(uint64_t from, void* to, size_t bytes) noexcept {
  const uint64_t last = from + bytes - 1;
  if (last < from || !readable(from)) return false;
  for (uint64_t page = (from | (kPage - 1)) + 1; page != 0 && page <= last; page += kPage) {
    if (!readable(page)) return false;
  }
  const auto* source = reinterpret_cast<const volatile unsigned char*>(from);
  auto* target = static_cast<unsigned char*>(to);
  for (size_t i = 0; i < bytes; ++i) target[i] = source[i];
  return true;
}

}  // namespace

bool safe_read(uint64_t from, void* to, size_t bytes) noexcept {
  if (bytes == 0) return true;
  if (method.load(std::memory_order_relaxed) == SafeLoadMethod::ProcessVmReadv) {
    iovec local{to, bytes};
    iovec remote{reinterpret_cast<void*>(from), bytes};
    // The process id is read each time: a forked child must not read its parent.
    const long result = raw_syscall(SYS_process_vm_readv, sys_getpid(), reinterpret_cast<long>(&local), 1,
                                    reinterpret_cast<long>(&remote), 1, 0);
    if (result >= 0) return static_cast<size_t>(result) == bytes;
    if (result != -EPERM && result != -ENOSYS && result != -EACCES) return false;
    method.store(SafeLoadMethod::SignalMaskProbe, std::memory_order_relaxed);
  }
  return probe_and_copy(from, to, bytes);
}

SafeLoadMethod safe_load_method() noexcept {
  return method.load(std::memory_order_relaxed);
}

void set_safe_load_method(SafeLoadMethod chosen) noexcept {
  method.store(chosen, std::memory_order_relaxed);
}

}  // namespace hpcrun
