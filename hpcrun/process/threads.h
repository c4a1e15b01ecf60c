#pragma once
// Threads join the measurement as they start and leave it as they end. Not async-signal-safe.

#include <cstdint>

namespace hpcrun {

class LateThreads;
struct StackBounds;

// Gives the calling thread its state, and starts its sample sources. Does nothing if the process is not
// measured, or if memory or the file is exhausted: the thread then runs unmeasured and is counted.
void attach_thread(StackBounds stack) noexcept;

// Counts a thread that runs unmeasured.
void count_unsampled() noexcept;

// Gives every running thread except the calling one a state and sources, in a process into which the runtime
// is loaded late.
void attach_running_threads(LateThreads& late) noexcept;

// Closes the parts of all threads. No handler may be running, or find sampling enabled.
void end_all_threads() noexcept;

// Stops the sources of all threads, none of which is measured any more. Their states stay, so that code that
// uses them may continue.
void disarm_all_threads() noexcept;

// Stops the calling thread's sources and closes its part of the file. Safe to call twice.
void detach_thread() noexcept;

// Records the name that the program gave a thread; `handle` is its pthread_t. Keeps errno.
void note_name(uint64_t handle, const char* name) noexcept;

// Records the present name of each thread, and how long it was ready without a processor, as measuring ends.
// Opens files.
void note_ends() noexcept;

// Replaces one of our descriptors, whose number the program is about to use, by a duplicate (-1: none).
// Async-signal-safe.
void replace_descriptor(int from, int to) noexcept;

// Calls refresh_modules(), and accounts for the memory that it takes.
void refresh_tables() noexcept;
// The same while the program continues: its time is counted as the runtime's own CPU time. Tables of large
// libraries take a tenth of a second.
void refresh_tables_meanwhile() noexcept;

}  // namespace hpcrun
