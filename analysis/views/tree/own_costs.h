#pragma once
// The exclusive costs of each thread by place: the sum over all places is the thread's total.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/views/tree/call_tree.h"

namespace prof {

// For one thread: places in rising order, values[i * metrics + m] for the i-th of them.
struct OwnCosts {
  std::vector<uint32_t> nodes;
  std::vector<double> values;
};

class OwnCostsByThread {
 public:
  // Places are numbered 0 to nodes - 1; node_of has the place of each context of the database. All of it must
  // outlive this object.
  OwnCostsByThread(const CallTree& tree, const std::vector<uint32_t>& node_of, size_t nodes);

  // `profile`: an index into Database::profiles. The result is overwritten by the next call.
  const OwnCosts& of(uint32_t profile);
  // From values in a profile's format.
  const OwnCosts& of(std::span<const ProfileValue> values);

 private:
  const CallTree& tree_;
  const std::vector<uint32_t>& node_of_;
  std::vector<bool> has_inner_;   // per context: whether it encloses others
  std::vector<size_t> position_;  // per metric of the database: in the selection, or its size
  std::vector<double> sums_;      // [node * metrics + m], zero between calls
  std::vector<bool> touched_;     // per node
  std::vector<ProfileValue> buffer_;
  OwnCosts result_;
};

// Returns the exclusive costs of all contexts over all threads, for one metric. The sum over all contexts is
// the total.
std::vector<double> own_costs(const Database& database, uint32_t metric);

}  // namespace prof
