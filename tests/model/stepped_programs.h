#pragma once
// Runs a function in a child process one instruction after the other.

#include <cstdint>
#include <vector>

#include "hpcrun/model/access_plan.h"

struct Step {
  uint64_t pc = 0;
  uint64_t stack_pointer = 0;
  std::vector<hpcrun::Access> planned;  // by a sample that stopped here
  std::vector<hpcrun::Access> made;     // what the instruction here does, by the registers here
};

// Empty where single-stepping is not allowed.
std::vector<Step> single_step(void (*program)());
