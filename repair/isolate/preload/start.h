#pragma once
// Common memory over the life of a process. If the environment requests it (PROF_ISOLATE), memory becomes
// common before the program's constructors run, or is awaited from then on until the controller has a page to
// isolate. It becomes private as the process forks, and common again in a process that has one thread and
// creates a second.

namespace hpcrun {

// Does all that has to happen before the program's constructors run. Called earlier if a constructor of a
// library creates a thread before ours runs; only the first call has an effect. Not async-signal-safe.
void start_isolation() noexcept;

// True if the environment requests it.
bool is_isolation_wanted() noexcept;

// Returns why the memory of the program is not common and will not be, one clause for the report, or nullptr.
// Async-signal-safe.
const char* isolation_refusal() noexcept;

// Must be called before the process creates a thread. Makes memory common again in a process that forked and
// has one thread. Not async-signal-safe.
void before_thread() noexcept;

// Must enclose every fork. before_fork() brings all threads home, ends the session, and makes memory private.
// If the kernel refuses that, it ends the process with one line: parent and child would write to the same
// memory. Between the calls, the caller may use memory of its own alone.
void before_fork() noexcept;
void after_fork_in_child() noexcept;
void after_fork_in_parent() noexcept;

// Must be called before the process limits its memory: the kernel counts the reservation as address space,
// and a private mapping of it as data. Makes memory private permanently.
void before_limit_of_memory() noexcept;

}  // namespace hpcrun

// isolation_refusal(), for code outside of this library.
extern "C" const char* hpcrun_isolation_refusal() noexcept;
