#pragma once
// The C library registers a piece of thread-local memory with the kernel for restartable sequences (rseq(2)).
// An original and its converted thread share that memory, and the kernel must write there for the running one
// only. The other is unregistered meanwhile. All calls are async-signal-safe.

namespace hpcrun {

// Returns true if it was registered.
bool unregister_restartable_sequences() noexcept;
void register_restartable_sequences() noexcept;

}  // namespace hpcrun
