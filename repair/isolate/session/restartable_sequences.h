#pragma once
// The C library registers a piece of thread-local memory with the kernel for restartable sequences (rseq(2)).
// An original and its converted thread have that memory in common, and what the kernel writes there must be
// of the one that runs: the other is not registered meanwhile. All calls are async-signal-safe.

namespace hpcrun {

// True where it was registered.
bool unregister_restartable_sequences() noexcept;
void register_restartable_sequences() noexcept;

}  // namespace hpcrun
