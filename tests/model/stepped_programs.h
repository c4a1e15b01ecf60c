#pragma once
// Runs a function in a child process, one instruction at a time.

#include <cstdint>
#include <vector>

#include "hpcrun/model/access_plan.h"

struct Step {
  uint64_t pc = 0;
  uint64_t stack_pointer = 0;
  std::vector<hpcrun::Access> planned;  // by a sample that stopped here
  std::vector<hpcrun::Access> made;     // what the instruction here accesses, with the registers here
};

// Empty if single-stepping is not permitted.
std::vector<Step> single_step(void (*program)());
