#pragma once
// Threads join the measurement as they start and leave it as they end. Not async-signal-safe.

#include <cstdint>

namespace hpcrun {

class LateThreads;
struct StackBounds;

// Gives the calling thread its state and starts its sample sources. Nothing happens when the process is not
// measured or memory or the file are exhausted: the thread then runs unmeasured and is counted.
void attach_thread(StackBounds stack) noexcept;

// Counts a thread that runs unmeasured.
void count_unsampled() noexcept;

// Gives every running thread but the calling one a state and sources, in a process to which the runtime comes
// late.
void attach_running_threads(LateThreads& late) noexcept;

// Closes the parts of all threads. No handler may be at work, nor find sampling on.
void end_all_threads() noexcept;

// Stops the sources of all threads, none of which is measured any more. Their states stay: what is at work in
// them may go on.
void disarm_all_threads() noexcept;

// Stops the calling thread's sources and closes its part of the file. Safe to call twice.
void detach_thread() noexcept;

// The program wants SIGTRAP for itself: every thread's CPUTIME is sampled by a timer from now on.
void stop_using_sigtrap() noexcept;

// Timers and F_SETSIG of all threads raise another signal from now on, which is owned already.
void use_timer_signal(int signal) noexcept;

// The program gave a thread this name; `handle` is its pthread_t. Keeps errno.
void note_name(uint64_t handle, const char* name) noexcept;

// Looks what all threads are called, as measuring ends.
void note_last_names() noexcept;

// A duplicate (-1: none) takes the place of one of our descriptors, whose number the program is about to use.
// Async-signal-safe.
void replace_descriptor(int from, int to) noexcept;

// Measuring was paused or goes on: sources of all threads follow. What was changed by others meanwhile
// stands.
void follow_pause() noexcept;

// refresh_modules(), with the memory it takes accounted for.
void refresh_tables() noexcept;
// The same where the program goes on meanwhile: what it takes is the runtime's own CPU time. Tables of large
// libraries take a tenth of a second.
void refresh_tables_meanwhile() noexcept;

}  // namespace hpcrun
