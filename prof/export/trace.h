#pragma once
// A thread's trace for exports: stretches of time, and the weight of each of its samples.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "analysis/views/tree/own_costs.h"

namespace prof {

bool has_trace(const Database& database, uint32_t profile);
// True if at least one of the selected threads has a trace.
bool has_trace(const CallTree& tree);

// Calls visit(begin_ns, end_ns, context) for each stretch from one record to the next. Times are since the
// epoch; the context is kNone while nothing ran. Reads the trace to its end, a block at a time. Throws
// DatabaseError if it cannot be read.
template <typename Visit>
void for_each_stretch(const Database& database, uint32_t profile, Visit visit) {
  if (!has_trace(database, profile)) return;
  TraceSource next = database.traces[profile];
  std::vector<TraceRecord> block;
  TraceRecord last{0, kNone};
  bool any = false;
  while (next(block)) {
    for (const TraceRecord& record : block) {
      if (any) visit(last.time_ns, record.time_ns, last.context);
      last = record;
      any = true;
    }
  }
  if (any && last.context != kNone) visit(last.time_ns, last.time_ns, last.context);
}

// Returns when the first of the selected threads' traces begins, in ns since the epoch; 0 without traces.
uint64_t first_time_ns(const CallTree& tree);

// Divides costs among samples. Traces do not contain the cost of each sample. A thread's cost in a context is
// divided evenly among its samples there, so that sums are exact.
class SampleWeights {
 public:
  // `node_of` and `nodes` must be those that OwnCostsByThread was made with.
  SampleWeights(const CallTree& tree, const std::vector<uint32_t>& node_of, size_t nodes);

  // Sets the thread with these costs, until the next call. Reads its trace once.
  void prepare(uint32_t profile, const OwnCosts& costs);

  double of(uint32_t node, size_t metric) const { return weights_[node * width_ + metric]; }
  // Returns the costs, as indexes into OwnCosts, that no sample of the trace can carry.
  const std::vector<size_t>& untraced() const { return untraced_; }

 private:
  const CallTree& tree_;
  const std::vector<uint32_t>& node_of_;
  size_t width_;
  std::vector<uint64_t> samples_;  // per node
  std::vector<double> weights_;    // [node * width + metric]
  std::vector<size_t> untraced_;
};

}  // namespace prof
