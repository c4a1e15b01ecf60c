#pragma once
// HPCToolkit's scope "lex_aware": the exclusive cost, except that a loop does not include the loops inside
// it.

#include <vector>

#include "analysis/database/model.h"

namespace prof {

class LexAware {
 public:
  explicit LexAware(const Database& database);
  // Of database.profiles[profile].values[value].
  double value(size_t profile, size_t value) const {
    return values_.empty() ? database_.profiles[profile].values[value].values.exclusive
                           : values_[profile][value];
  }
  // Summed over profiles.
  double sum(uint32_t metric, uint32_t context, const Summary& summary) const;

 private:
  const Database& database_;
  std::vector<std::vector<double>> values_;  // empty without loops: then it is the exclusive cost everywhere
  std::vector<uint32_t> loop_index_;         // of a context among the loops
  std::vector<double> loop_sums_;            // [loop * metrics + metric]
};

}  // namespace prof
