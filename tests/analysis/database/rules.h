#pragma once
// Checks the rules of model.h on what a reader returned.

#include <string>

#include "analysis/database/model.h"

namespace prof::test {

// Returns an empty string, or the first rule that the database breaks. Reads the traces; their DatabaseError
// is not caught.
std::string broken_rule(const Database& database);

}  // namespace prof::test
