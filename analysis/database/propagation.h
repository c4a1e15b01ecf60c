#pragma once
// Computes the values of one thread's contexts: adds samples up towards the entry points.

#include <span>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// Handles one metric at a time: add() samples, finish(), and repeat for the next metric.
class Propagation {
 public:
  // Must be called once for each tree of contexts, which must outlive the use. Calling it again for another
  // thread of the same tree costs nothing.
  void begin(std::span<const Context> contexts) {
    contexts_ = contexts;
    values_.resize(contexts.size());
  }

  void add(uint32_t context, double value);

  // Appends the values of all contexts that have any, the last context first, and starts over.
  void finish(uint32_t metric, std::vector<ProfileValue>& out);

 private:
  struct Cell {
    double point = 0;
    double exclusive = 0;
    double inclusive = 0;
    bool reached = false;
  };

  void order_reached();
  Cell& function_above(uint32_t context);

  std::span<const Context> contexts_;
  std::vector<Cell> values_;
  std::vector<uint32_t> reached_;
};

// Sorts values in the order of Profile::values.
void sort_values(std::vector<ProfileValue>& values);

}  // namespace prof
