#pragma once
// Common memory for the whole life of a process: where the environment asks for it (PROF_ISOLATE) begun
// before the constructors of the program, or awaited from there on, until the controller has a page to
// isolate; left as the process forks, and begun again in one that has one thread and is about to have a
// second.

namespace hpcrun {

// All that is done before the program's constructors, where a constructor of a library makes a thread before
// ours runs. The first call only. Not async-signal-safe.
void start_isolation() noexcept;

// Whether the environment asks for it.
bool is_isolation_wanted() noexcept;

// Why the memory of the program is not common, or is not to be, one clause for people; nullptr: it is, or
// will be. Async-signal-safe.
const char* isolation_refusal() noexcept;

// The process is about to have another thread: where its memory is private since it forked, and it has no
// threads, it is common again. Not async-signal-safe.
void before_thread() noexcept;

// Around every fork. Whoever was a twin is at home from then on, the session is over, and the memory of
// parent and child is private. Ends the process with one line where the kernel refuses, which would have both
// write to the same memory. Between them the caller may use memory of its own alone.
void before_fork() noexcept;
void after_fork_in_child() noexcept;
void after_fork_in_parent() noexcept;

// The process is about to limit its memory: the kernel counts what is set aside to its address space, and a
// private mapping of it to its data. Nothing is common from now on.
void before_limit_of_memory() noexcept;

}  // namespace hpcrun

// isolation_refusal(), for what is not in this library.
extern "C" const char* hpcrun_isolation_refusal() noexcept;
