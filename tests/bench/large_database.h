#pragma once
// A database with a million contexts on paths of about a hundred frames, of twenty thousand functions. With
// several metrics, each is a little heavier than the previous one.

#include <cstdint>

#include "analysis/database/model.h"

namespace prof::test {

Database large_database(uint32_t metrics = 1);

}  // namespace prof::test
