#pragma once

#include "analysis/database/model.h"

namespace prof::test {

// Catch2 assertions that two databases hold the same, traces included. Of source files that are not here
// `actual` has no copies.
void check_equal(const Database& actual, const Database& expected);

}  // namespace prof::test
