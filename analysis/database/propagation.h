#pragma once
// Values of the contexts of one thread: what was sampled there, added up towards the entry points.

#include <span>
#include <vector>

#include "analysis/database/model.h"

namespace prof {

// One metric at a time: add() what was sampled, finish(), and again for the next.
class Propagation {
 public:
  // Once for each tree of contexts, which must outlive the use; again for another thread of the same tree it
  // costs nothing.
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

// In the order that Profile::values has.
void sort_values(std::vector<ProfileValue>& values);

}  // namespace prof
