#pragma once
// Determines whether a database has sums over threads. A new one may have only the costs of each thread.

#include "analysis/database/model.h"
#include "analysis/database/stored_values.h"

namespace prof {

inline bool has_stored_sums(const Database& database) {
  return database.stored && database.stored->metrics() == database.metrics.size() &&
         database.stored->contexts() == database.contexts.size();
}

inline bool has_summaries(const Database& database) {
  return has_stored_sums(database) ||
         database.summaries.size() == database.metrics.size() * database.contexts.size();
}

}  // namespace prof
