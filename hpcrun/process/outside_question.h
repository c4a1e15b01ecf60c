#pragma once
// The question to `prof`, on its socket, to sample the calling process from outside. Used by the runtime and
// by hpcrun-exec, which has no C library.

#include <sys/un.h>

namespace hpcrun {

struct OutsideAddress {
  sockaddr_un socket;
  long bytes;  // of it; 0: nobody to ask
};

// `name`: of the abstract socket, or nullptr. Async-signal-safe.
OutsideAddress outside_address(const char* name) noexcept;

// `what`: kStaticFromExec and its kin (hpcrun/sample/config.h). Returns when `prof` has answered, and half a
// second later where it does not. Async-signal-safe, also for children of vfork.
void ask_outside(const OutsideAddress& address, char what) noexcept;

}  // namespace hpcrun
