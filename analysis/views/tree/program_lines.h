#pragma once
// The lines of the program's own code, by their cost including the library code that they call. Each sample
// counts once, at the innermost line of the program on its call path. A line that only calls other code of
// the program is not charged for it. Therefore the costs of all lines add up to at most the total.

#include <cstddef>
#include <string_view>
#include <vector>

#include "analysis/views/tree/source_locations.h"

namespace prof {

struct ProgramLine {
  uint32_t frame = 0;      // the function that the line belongs to
  SourceLocation location;  // not known for a function without line information
  uint32_t context = 0;    // into Database::contexts: the most expensive one at this line
  double cost = 0;         // of the first metric: the line and the library code that it calls
  double own = 0;          // of it: the line itself
  uint32_t call = kNone;   // into CallTree::frames: the called function with most of the rest; kNone: none
  double call_cost = 0;    // of it
};

// Returns the lines by falling cost, at most `limit`. Empty if no code of the program was sampled.
std::vector<ProgramLine> program_lines(const CallTree& tree, size_t limit);

// Returns for each context of the database which of `lines` it is charged to, as an index; kNone if none.
std::vector<uint32_t> charged_lines(const CallTree& tree, const std::vector<ProgramLine>& lines);

// True if the code of a module, by its path, comes with the system or with prof.
bool is_system_path(std::string_view module);
bool is_system_module(const Database& database, uint32_t module);

// By module: true for code of the program without any function symbols. Sentences name its functions by the
// module and the offset in it, rather than by their callers.
std::vector<bool> stripped_modules(const Database& database);

// True if a function, by its module or its definition, belongs to the system, its C++ headers or prof:
// library code from the view of the program's author.
bool is_library_code(const Database& database, const Frame& frame);

// True for the functions that call main() and those of threads, which are on every call path.
bool is_start_code(std::string_view name);

}  // namespace prof
