#pragma once
// Whether a database has its sums over threads; one that was just made may have only what each thread spent.

#include "analysis/database/model.h"

namespace prof {

inline bool has_summaries(const Database& database) {
  return database.summaries.size() == database.metrics.size() * database.contexts.size();
}

}  // namespace prof
