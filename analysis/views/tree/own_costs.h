#pragma once
// What each thread itself spent in each place: the sum over all places is the thread's total.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// Of one thread: places in rising order, values[i * metrics + m] for the i-th of them.
struct OwnCosts {
  std::vector<uint32_t> nodes;
  std::vector<double> values;
};

class OwnCostsByThread {
 public:
  // Places are numbered 0 to nodes - 1; node_of says for each context of the database in which one it lies.
  // All of it must outlive this.
  OwnCostsByThread(const CallTree& tree, const std::vector<uint32_t>& node_of, size_t nodes);

  // Of an index into Database::profiles. The answer is overwritten by the next call.
  const OwnCosts& of(uint32_t profile);
  // Of values as a profile has them.
  const OwnCosts& of(std::span<const ProfileValue> values);

 private:
  const CallTree& tree_;
  const std::vector<uint32_t>& node_of_;
  std::vector<bool> has_inner_;   // per context: has others enclosed in it
  std::vector<size_t> position_;  // per metric of the database: in the selection, or its size
  std::vector<double> sums_;      // [node * metrics + m], zero between calls
  std::vector<bool> touched_;     // per node
  std::vector<ProfileValue> buffer_;
  OwnCosts result_;
};

// What all threads together spent in each context itself, of one metric. The sum over all contexts is the
// total.
std::vector<double> own_costs(const Database& database, uint32_t metric);

}  // namespace prof
