#pragma once
// Statistics over threads: from the values of the profiles to one Summary per metric and context, and what is
// derived from a Summary.

#include <utility>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

void add(Summary& summary, const Values& values);
void add(Summary& summary, const Summary& more);

// The summaries of database.profiles, laid out as Database::summaries. A profile counts for a (metric,
// context) when it has a value there.
std::vector<Summary> summarize(const Database& database);

// Summaries of a few profiles, of the many that there are. Sums of floating-point numbers depend on the order
// in which they are added: many profiles are added up in groups, and the groups in their order, so that the
// result does not depend on who adds up which group.
class GroupSummaries {
 public:
  // `size`: as many as Database::summaries has.
  explicit GroupSummaries(size_t size) : slot_of_(size, kNone) {}

  void add(size_t index, const Values& values);
  // By index, in the order of their first values; begins anew.
  std::vector<std::pair<size_t, Summary>> take();

 private:
  std::vector<uint32_t> slot_of_;
  std::vector<std::pair<size_t, Summary>> sums_;
};

// How many profiles at least are a group.
size_t profiles_of_group(size_t profiles);

// Over the profiles in which the context occurs; 0 when there are none. `scope` is a member of Values:
// mean(summary, &Values::inclusive).
double mean(const Summary& summary, double Values::*scope);
// Of the population (divided by the number of profiles).
double standard_deviation(const Summary& summary, double Values::*scope);

}  // namespace prof
