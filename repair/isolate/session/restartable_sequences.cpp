#include "repair/isolate/session/restartable_sequences.h"

#include <cstddef>
#include <cstdint>

#include "hpcrun/guest/syscalls.h"

// Defined by the C library since 2.35; null otherwise, and nothing is registered then.
extern "C" {
[[gnu::weak]] extern const ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

namespace hpcrun {

namespace {

constexpr long kSignature = 0x53053053;
// The C library reports the size that it uses, but registered this one (2.35 to 2.39).
constexpr long kRegisteredBytes = 32;
constexpr long kUnregister = 1;

long area() noexcept {
  if (!&__rseq_size || !__rseq_size) return 0;
  return reinterpret_cast<long>(static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset);
}

}  // namespace

bool unregister_restartable_sequences() noexcept {
  const long at = area();
  return at && raw_syscall(SYS_rseq, at, kRegisteredBytes, kUnregister, kSignature) == 0;
}

void register_restartable_sequences() noexcept {
  raw_syscall(SYS_rseq, area(), kRegisteredBytes, 0, kSignature);
}

}  // namespace hpcrun
