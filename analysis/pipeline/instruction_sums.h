#pragma once
// Sums the cost of each place in code over all threads of a run. The sums are of integers, so they depend
// neither on the order of the threads nor on which process adds them.

#include <unordered_map>
#include <vector>

#include "analysis/pipeline/metrics.h"
#include "analysis/pipeline/places.h"
#include "analysis/workers/packing.h"

namespace prof {

class InstructionSums {
 public:
  // place_of: the place of each node except the root.
  void add(const MeasuredThread& thread, const std::vector<MetricColumn>& columns,
           const std::vector<PlaceId>& place_of);
  void add(const InstructionSums& other);

  // Serialize the sums for another process, and add those that another one sent. `places`, `metrics`: how
  // many of each there are.
  void give(Packer& out) const;
  void take(Unpacker& in, size_t places, size_t metrics);

  // Returns the costs of places in code of files, sorted by module, offset and metric.
  std::vector<InstructionCost> costs(const Places& places) const;

 private:
  // The scale belongs to the key because processes may measure a metric at different scales.
  struct Key {
    PlaceId place;
    uint32_t metric;
    double scale;
    auto operator<=>(const Key&) const = default;
  };
  struct Entry {
    Key key;
    uint64_t sum;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return std::hash<uint64_t>()((uint64_t{key.place} << 32 | key.metric) * 0x9e3779b97f4a7c15u);
    }
  };
  std::unordered_map<Key, uint64_t, KeyHash> sums_;
};

}  // namespace prof
