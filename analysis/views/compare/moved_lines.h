#pragma once
// Maps the lines of a source file to those of a later version of it.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

// Returns for each line of `before` the number, from 1, of its line in `after`: one with the same text, by
// the longest common subsequence of lines. Changed lines are paired in order with the lines that replace
// them; a deleted line gets the number of the line before it. A line that occurs once in both is the same
// line wherever it was moved.
std::vector<uint32_t> moved_lines(const std::string& before, const std::string& after);

}  // namespace prof
