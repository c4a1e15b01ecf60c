#pragma once
// The request to `prof`, on its socket, to sample the calling process from outside. Used by the runtime and
// by hpcrun-exec, which has no C library.

#include <sys/un.h>

namespace hpcrun {

struct OutsideAddress {
  sockaddr_un socket;
  long bytes;  // length of the address; 0: there is no socket
};

// Returns the address. `name`: of the abstract socket, or nullptr. Async-signal-safe.
OutsideAddress outside_address(const char* name) noexcept;

// Sends the request. `what`: kStaticFromExec or similar (hpcrun/sample/config.h). Returns when `prof` has
// answered, or after half a second without an answer. Async-signal-safe, also for children of vfork.
void ask_outside(const OutsideAddress& address, char what) noexcept;

}  // namespace hpcrun
