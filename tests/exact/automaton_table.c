#include "tests/exact/automaton_table.h"

#include "exact/valgrind/automaton.h"

uint32_t automaton_step(int kind, int event, uint32_t state, uint32_t handle, int* wasted) {
  return pe_step((enum PeKind)kind, (enum PeEvent)event, state, handle, wasted);
}

int automaton_kinds(void) {
  return PE_KINDS;
}

int automaton_events(void) {
  return PE_EVENTS;
}
