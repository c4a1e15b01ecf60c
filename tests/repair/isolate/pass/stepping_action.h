#pragma once
// For isolated_pages.cpp alone.

namespace hpcrun::test {

// Of a new converted thread: what its steps call, where it is run step by step.
void take_steps_here() noexcept;

}  // namespace hpcrun::test
