#pragma once
// The addresses on the call paths of measurements, attributed to source.

#include <map>
#include <string>
#include <vector>

#include "analysis/pipeline/module_places.h"
#include "analysis/pipeline/pipeline.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

class Places {
 public:
  // Collects and attributes the addresses of all measurements; fills the database's modules, files and
  // functions.
  Places(const std::vector<ProcessMeasurement>& measurements, const AnalyzeOptions& options,
         Database& database, std::vector<std::string>& warnings);

  // The place of a frame in the given measurement, which must be one that was collected.
  PlaceId place(size_t measurement, uint64_t frame) const;

  const PlaceTable& table() const { return table_; }

 private:
  void collect(const std::vector<ProcessMeasurement>& measurements);
  uint64_t name_of_frame(const ProcessMeasurement& measurement, uint64_t frame);
  uint32_t module_of_frame(uint64_t frame, const ProcessMeasurement& measurement, const std::string& host);

  ModulePlaces modules_;
  PlaceTable table_;
  std::vector<std::vector<uint32_t>> module_ids_;  // [measurement][module id in its frames] -> modules_
  uint32_t device_ = 0;                            // the module of what devices executed
  std::map<std::string, uint64_t> names_;          // of those, with their numbers
  std::vector<std::map<uint64_t, uint64_t>> name_of_frame_;  // [measurement][frame] -> number
  uint32_t lost_ = 0;                                        // the module of frames that were lost to damage
};

}  // namespace prof
