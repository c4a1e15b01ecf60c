#pragma once
// Isolation for test programs, in a library of its own: what is called from the library's code is not
// dispatched, and what a test program and the C library call is, as it will be in the runtime.

#include <cstdint>

extern "C" {

// Makes the process's memory common and begins a session; ends the program with status 125 where that fails.
// Before there are other threads.
void isolated_start();
// The rest of it, where the memory is common already: 0, or what hpcrun::SessionStart says.
int isolated_begin();
void isolated_make_common();
bool isolated_end();
void* isolated_map(uint64_t bytes);  // common memory, or nullptr

bool isolated_convert();  // false: the thread stays at home
int isolated_convert_result();
void isolated_give_back();
bool isolated_is_converted();
int isolated_thread_number();
void isolated_enter_as_new_thread();
void isolated_ask_back(int tid);
int isolated_converted_thread_of(int tid);  // its process; 0: none
uint64_t isolated_converted_cpu_ns();       // of all, those that run and those that left
void isolated_bring_all_home();
void isolated_release();

struct IsolatedCounts {
  uint64_t conversions, conversion_ns, longest_ns, refusals, by_original, trapped;
  uint64_t given_back[4];  // plainly, asked, for a call, for a fault
  uint64_t converted_hooks, leaving_hooks, calls_begun, calls_ended;
};
IsolatedCounts isolated_counts();
}
