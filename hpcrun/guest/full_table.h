#pragma once
// Opens files of /proc if the program has used up its descriptors (RLIMIT_NOFILE).

namespace hpcrun {

// Calls use(argument) in a short-lived process that shares this process's memory, while the calling thread
// waits. That process has a copy of the descriptor table in which one of the program's descriptors is closed.
// There, `/proc/self` is that process: the same mappings, but other tasks and descriptors. Returns the result
// of `use`, or the negated errno of clone(). `use` must close what it opens, and must not depend on the
// identity of the calling task. Async-signal-safe; blocks signals meanwhile.
long call_with_spare_descriptor(long (*use)(void* argument), void* argument) noexcept;

}  // namespace hpcrun
