#pragma once
// A database with a million contexts, on paths of about a hundred frames, of twenty thousand functions. Of
// more than one metric each is a little heavier than the one before.

#include <cstdint>

#include "analysis/database/model.h"

namespace prof::test {

Database large_database(uint32_t metrics = 1);

}  // namespace prof::test
