#pragma once
// Which line of a source file became which, when the file was changed.

#include <cstdint>
#include <string>
#include <vector>

namespace prof {

// For each line of `before`, from the first on, the number from 1 of its line in `after`: the same text, by
// the longest common subsequence of lines. Lines that were changed are paired in order with what stands there
// instead; a line that is gone is that before it. What both have once is the same line wherever it went.
std::vector<uint32_t> moved_lines(const std::string& before, const std::string& after);

}  // namespace prof
