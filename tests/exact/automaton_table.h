#pragma once
// The automaton of the Valgrind tool, which is C, for a test in C++.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The numbers of kinds and events are those of automaton.h. Returns the next state.
uint32_t automaton_step(int kind, int event, uint32_t state, uint32_t handle, int* wasted);
int automaton_kinds(void);
int automaton_events(void);

#ifdef __cplusplus
}
#endif
