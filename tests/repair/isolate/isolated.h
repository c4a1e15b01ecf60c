#pragma once
// Isolation for test programs, in a library of its own. System calls from the library's code are not
// dispatched; those of the test program and the C library are, as with the runtime.

#include <cstdint>

extern "C" {

// Makes the process's memory common and begins a session. Ends the program with status 125 if that fails.
// Must be called before there are other threads.
void isolated_start();
// Only begins a session, in memory that is already common. Returns 0, or a value of hpcrun::SessionStart.
int isolated_begin();
void isolated_make_common();
bool isolated_end();
void* isolated_map(uint64_t bytes);  // returns common memory, or nullptr

bool isolated_convert();  // false: the thread stays at home
int isolated_convert_result();
void isolated_give_back();
bool isolated_is_converted();
int isolated_thread_number();
void isolated_enter_as_new_thread();
void isolated_ask_back(int tid);
int isolated_converted_thread_of(int tid);  // its process number; 0: none
uint64_t isolated_converted_cpu_ns();       // of all, running and ended
void isolated_bring_all_home();
void isolated_release();

struct IsolatedCounts {
  uint64_t conversions, conversion_ns, longest_ns, refusals, by_original, trapped;
  uint64_t given_back[4];  // by the thread itself, on request, for a call, for a fault
  uint64_t converted_hooks, leaving_hooks, calls_begun, calls_ended;
};
IsolatedCounts isolated_counts();
}
