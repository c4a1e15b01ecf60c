#pragma once
// The cost of each instruction: instructions.sqlite, which is read only when machine code is displayed. Not
// part of HPCToolkit's format.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Returns the costs of a module's instructions at offsets in [begin, end), sorted by offset and metric.
// Returns nullopt if the database has none because it was imported or written by an older version. Throws
// DatabaseError. `database`: the result of read_database() for this directory.
std::optional<std::vector<InstructionCost>> read_instruction_costs(const std::filesystem::path& directory,
                                                                   const Database& database, uint32_t module,
                                                                   uint64_t begin, uint64_t end);

}  // namespace prof
