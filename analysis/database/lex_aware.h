#pragma once
// HPCToolkit's scope "lex_aware": the exclusive cost, except that a loop does not include the loops inside
// it.

#include <vector>

#include "analysis/database/model.h"

namespace prof {

class LexAware {
 public:
  // `database` must outlive the object.
  explicit LexAware(const Database& database);

  // Returns the lex_aware cost for each value of a profile. Returns an empty vector if there are no loops,
  // because then it equals the exclusive cost. Safe to call from several threads at once.
  std::vector<double> of(const std::vector<ProfileValue>& values) const;

  // Adds a profile's loops to sum(). Not thread-safe.
  void add(const std::vector<ProfileValue>& values, const std::vector<double>& lex_aware);

  // Returns the sum over profiles.
  double sum(uint32_t metric, uint32_t context, const Summary& summary) const;

 private:
  const Database& database_;
  std::vector<uint32_t> loop_index_;  // index among the loops, by context; empty if there are none
  std::vector<double> loop_sums_;     // [loop * metrics + metric]
};

}  // namespace prof
