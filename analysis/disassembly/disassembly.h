#pragma once
// The instructions of a function with what was spent at each of them and the lines of source they are of:
// what is shown beside the source. Computed when somebody looks, from the load module's file on this machine
// and the database.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/database/model.h"
#include "analysis/disassembly/instruction_text.h"

namespace prof {

// Where machine code is: in a load module, at an offset.
struct CodePlace {
  uint32_t module = kNone;  // index into Database::modules
  uint64_t offset = 0;

  bool operator==(const CodePlace&) const = default;
};

struct CodeRow {
  uint64_t offset = 0;  // in the module, as objdump has it
  std::vector<uint8_t> bytes;
  std::string text;
  std::optional<uint64_t> target;  // of a jump or call: an offset in the module
  uint32_t target_row = kNone;     // where that is in this function; none of calls to its begin
  bool is_target = false;          // of one of the function's own jumps
  uint32_t loops = 0;              // how many loops it is in: of jumps back to before it from behind it
  // The line that it is of, in the function that it is of: the innermost one that was inlined there.
  std::string function;
  bool is_inlined = false;
  std::string path;       // of the source file; empty: not known
  uint32_t file = kNone;  // index into Database::files, where that has it
  uint32_t line = 0;      // 0: not known
};

struct Disassembly {
  std::string failure;  // why there are no rows, in one line; else empty
  std::string note;     // what to know of them, in one line; mostly empty
  std::string function;
  std::string path;  // of the load module
  std::vector<CodeRow> rows;
  size_t metrics = 0;
  // Of each row and metric of the database, [row * metrics + metric], what all threads spent at the
  // instruction itself. Empty where the database does not tell, which the note says.
  std::vector<double> costs;
  std::vector<double> totals;  // per metric, of all rows

  bool has_costs() const { return !costs.empty(); }
  double cost(size_t row, size_t metric) const { return costs[row * metrics + metric]; }
  // The row whose bytes an offset is one of; kNone: none.
  uint32_t row_at(uint64_t offset) const;
};

// Of the function that has the instruction at `place`, with all of its parts and of all that was inlined into
// it. `directory` is where `database` was read from. Throws DatabaseError where instructions.sqlite is
// damaged.
Disassembly disassemble(const std::filesystem::path& directory, const Database& database,
                        const CodePlace& place, Syntax syntax, const AttributionOptions& options = {});

}  // namespace prof
