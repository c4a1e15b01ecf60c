#pragma once
// A database with a million contexts, on paths of about a hundred frames, of twenty thousand functions.

#include "analysis/database/model.h"

namespace prof::test {

Database large_database();

}  // namespace prof::test
