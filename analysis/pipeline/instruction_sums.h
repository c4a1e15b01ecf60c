#pragma once
// What all threads of a run spent at each place in code itself. Sums of whole numbers, so that they depend
// neither on the order in which threads are added up nor on who does it.

#include <unordered_map>
#include <vector>

#include "analysis/pipeline/metrics.h"
#include "analysis/pipeline/places.h"
#include "analysis/team/packing.h"

namespace prof {

class InstructionSums {
 public:
  // place_of: of each node, the root's left out.
  void add(const MeasuredThread& thread, const std::vector<MetricColumn>& columns,
           const std::vector<PlaceId>& place_of);
  void add(const InstructionSums& other);

  // For another process, and what another one gave, of so many places and metrics.
  void give(Packer& out) const;
  void take(Unpacker& in, size_t places, size_t metrics);

  // Of places in code of files, by module, offset and metric.
  std::vector<InstructionCost> costs(const Places& places) const;

 private:
  // Processes may have measured a metric at scales of their own.
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
