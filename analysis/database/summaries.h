#pragma once
// Statistics over threads: from the values of the profiles to one Summary per metric and context, and what is
// derived from a Summary.

#include <vector>

#include "analysis/database/model.h"

namespace prof {

void add(Summary& summary, const Values& values);

// The summaries of database.profiles, laid out as Database::summaries. A profile counts for a (metric,
// context) when it has a value there.
std::vector<Summary> summarize(const Database& database);

// Over the profiles in which the context occurs; 0 when there are none. `scope` is a member of Values:
// mean(summary, &Values::inclusive).
double mean(const Summary& summary, double Values::*scope);
// Of the population (divided by the number of profiles).
double standard_deviation(const Summary& summary, double Values::*scope);

}  // namespace prof
