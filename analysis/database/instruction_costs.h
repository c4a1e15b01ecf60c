#pragma once
// What was spent at each instruction: instructions.sqlite, which is read only where somebody looks at
// machine code. Not part of HPCToolkit's format.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Of the instructions of a module at offsets in [begin, end), by offset and metric. Nothing where the
// database does not tell: it was imported, or written by an older version. Throws DatabaseError.
// `database`: what read_database() returned for this directory.
std::optional<std::vector<InstructionCost>> read_instruction_costs(const std::filesystem::path& directory,
                                                                   const Database& database, uint32_t module,
                                                                   uint64_t begin, uint64_t end);

}  // namespace prof
