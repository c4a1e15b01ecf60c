#pragma once
// The rules of model.h, checked on what a reader returned.

#include <string>

#include "analysis/database/model.h"

namespace prof::test {

// Empty, or the first rule that the database breaks. Reads the traces; their DatabaseError passes through.
std::string broken_rule(const Database& database);

}  // namespace prof::test
