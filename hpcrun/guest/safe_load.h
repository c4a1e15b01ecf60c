#pragma once
// Loads from arbitrary addresses: unmapped, protected, unaligned, not canonical. The kernel does the load, so
// a bad address is a result and not a fault. It works if the thread blocks SIGSEGV, and needs no signal
// handler. All calls are async-signal-safe and do not change errno.

#include <cstddef>
#include <cstdint>

namespace hpcrun {

enum class SafeLoadMethod : uint8_t {
  // process_vm_readv on our own process: nothing can fault.
  ProcessVmReadv,
  // Used if that call is refused (seccomp). rt_sigprocmask with an invalid operation copies the mask from the
  // address, returns EFAULT or EINVAL, and changes nothing; a plain load follows. The load can still fault if
  // another thread unmaps the page in between.
  SignalMaskProbe,
};

// Copies bytes from the address. If it returns false, the target is unspecified.
[[nodiscard]] bool safe_read(uint64_t from, void* to, size_t bytes) noexcept;

[[nodiscard]] inline bool safe_load_word(uint64_t from, uint64_t& value) noexcept {
  return safe_read(from, &value, sizeof value);
}

// Memory of this process that another thread may unmap at any moment, as a source of hpcrun/elf. Offsets are
// relative to `base`; with base 0 they are addresses.
class SafeSource {
 public:
  static constexpr bool kIsDirect = false;

  explicit SafeSource(uint64_t base = 0) noexcept : base_(base) {}
  [[nodiscard]] bool read(uint64_t offset, void* to, size_t bytes) const noexcept {
    return safe_read(base_ + offset, to, bytes);
  }

 private:
  uint64_t base_;
};

// Returns the method in use. The first call that finds process_vm_readv refused changes it permanently.
SafeLoadMethod safe_load_method() noexcept;

// Sets the method.
void set_safe_load_method(SafeLoadMethod method) noexcept;

}  // namespace hpcrun
