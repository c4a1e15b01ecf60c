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

  // Of each value of a profile; empty where there are no loops: then it is the exclusive cost everywhere.
  // Callable by several threads at once.
  std::vector<double> of(const std::vector<ProfileValue>& values) const;

  // What a profile's loops add to sum(): one profile after the other.
  void add(const std::vector<ProfileValue>& values, const std::vector<double>& lex_aware);

  // Summed over profiles.
  double sum(uint32_t metric, uint32_t context, const Summary& summary) const;

 private:
  const Database& database_;
  std::vector<uint32_t> loop_index_;  // of a context among the loops; empty without any
  std::vector<double> loop_sums_;     // [loop * metrics + metric]
};

}  // namespace prof
