#pragma once
// The events that search for wasted stores and loads: dead-stores, silent-stores, redundant-loads, and
// memory-waste for all three.

#include <cstdint>
#include <string>
#include <vector>

#include "prof/launch/events.h"

namespace prof {

// Removes these events, each with or without "@RATE", from the events. They need samples of CPUTIME. If
// CPUTIME is not among the events, it replaces them, by default at 100 samples a second. Returns the kinds of
// waste, bit n for WasteKind n (hpcrun/measurement/format.h); 0: none. Throws CommandError (125) if two
// events have different rates.
uint64_t take_memory_waste(std::vector<std::string>& texts);

// Returns the events for `prof list events`.
std::vector<EventDescription> waste_events();

}  // namespace prof
