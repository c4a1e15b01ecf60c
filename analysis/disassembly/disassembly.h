#pragma once
// The instructions of a function, with the cost and the source line of each, to display next to the source.
// Computed on demand from the load module's file on this machine and the database.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/disassembly/instruction_text.h"

namespace prof {

// The location of machine code: an offset in a load module.
struct CodeLocation {
  uint32_t module = kNone;  // index into Database::modules
  uint64_t offset = 0;

  bool operator==(const CodeLocation&) const = default;
};

struct CodeRow {
  uint64_t offset = 0;  // in the module, as objdump shows it
  std::vector<uint8_t> bytes;
  std::string text;
  std::optional<uint64_t> target;  // of a jump or call: an offset in the module
  uint32_t target_row = kNone;     // its row, if it is in this function; kNone for calls
  bool is_target = false;          // of one of the function's own jumps
  uint32_t loops = 0;              // number of enclosing loops, which are backward jumps
  // The source line, in the innermost function that was inlined there.
  std::string function;
  bool is_inlined = false;
  std::string path;       // of the source file; empty if unknown
  uint32_t file = kNone;  // index into Database::files, if it has the file
  uint32_t line = 0;      // 0 if unknown
};

struct Disassembly {
  std::string failure;  // why there are no rows, in one line; otherwise empty
  std::string note;     // a remark on the rows, in one line; usually empty
  std::string function;
  std::string path;  // of the load module
  std::vector<CodeRow> rows;
  size_t metrics = 0;
  // The cost of each row's instruction itself for each metric of the database, summed over all threads: [row
  // * metrics + metric]. Empty if the database has no such costs; then the note says so.
  std::vector<double> costs;
  std::vector<double> totals;  // per metric, of all rows

  bool has_costs() const { return !costs.empty(); }
  double cost(size_t row, size_t metric) const { return costs[row * metrics + metric]; }
  // Returns the row that contains the byte at an offset; kNone if there is none.
  uint32_t row_at(uint64_t offset) const;
};

// Disassembles the function that contains the instruction at `location`, with all of its parts and all code
// that was inlined into it. `directory`: where `database` was read from. Throws DatabaseError if
// instructions.sqlite is damaged.
Disassembly disassemble(const std::filesystem::path& directory, const Database& database,
                        const CodeLocation& location, Syntax syntax, const AttributionOptions& options = {});

}  // namespace prof
