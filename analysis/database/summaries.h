#pragma once
// Statistics over threads: computes a Summary per metric and context from the profiles' values, and
// quantities that are derived from a Summary.

#include <vector>

#include "analysis/database/model.h"

namespace prof {

void add(Summary& summary, const Values& values);

// Returns the summaries of database.profiles, in the layout of Database::summaries. A profile counts for a
// (metric, context) if it has a value there.
std::vector<Summary> summarize(const Database& database);

// Returns the mean over the profiles in which the context occurs; 0 if there are none. `scope` is a member of
// Values: mean(summary, &Values::inclusive).
double mean(const Summary& summary, double Values::*scope);
// Returns that of the population (divided by the number of profiles).
double standard_deviation(const Summary& summary, double Values::*scope);

}  // namespace prof
