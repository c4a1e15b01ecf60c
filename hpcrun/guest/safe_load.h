#pragma once
// Loads from addresses that may be anything: unmapped, protected, unaligned, not canonical. The kernel does
// the load, so a bad address is a result and not a fault; it works where the thread blocks SIGSEGV and needs
// no signal handler. All calls are async-signal-safe and leave errno alone.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

enum class SafeLoadMethod : uint8_t {
  // process_vm_readv on our own process: nothing can fault.
  ProcessVmReadv,
  // Where that call is refused (seccomp): rt_sigprocmask with an impossible operation copies the mask from
  // the address, says EFAULT or EINVAL, and changes nothing; then a plain load. Another thread that unmaps
  // the page between the two can still make the load fault.
  SignalMaskProbe,
};

// Copies bytes from the address; all or nothing counts: after false the target is unspecified.
bool safe_read(uint64_t from, void* to, size_t bytes) noexcept;

inline bool safe_load_word(uint64_t from, uint64_t& value) noexcept {
  return safe_read(from, &value, sizeof value);
}

// The method in use. The first call that finds process_vm_readv refused changes it for good.
SafeLoadMethod safe_load_method() noexcept;

// Chooses a method by hand.
void set_safe_load_method(SafeLoadMethod method) noexcept;

}  // namespace hpcrun
