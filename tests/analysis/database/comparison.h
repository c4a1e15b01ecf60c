#pragma once

#include "analysis/database/model.h"

namespace prof::test {

// Asserts with Catch2 that two databases are equal, traces included. `actual` has no copies of source files
// that do not exist here.
void check_equal(const Database& actual, const Database& expected);

}  // namespace prof::test
