#pragma once

#include "analysis/database/model.h"

namespace prof::test {

// Catch2 assertions that two databases hold the same, traces included.
void check_equal(const Database& actual, const Database& expected);

}  // namespace prof::test
