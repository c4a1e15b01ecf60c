#pragma once
// For isolated_pages.cpp alone.

namespace hpcrun::test {

// Sets what the steps of a new converted thread call, if it is run step by step.
void take_steps_here() noexcept;

}  // namespace hpcrun::test
