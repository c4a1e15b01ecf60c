#pragma once
// The addresses on the call paths of measurements, attributed to source.

#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/pipeline/module_places.h"
#include "analysis/pipeline/pipeline.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

class Places {
 public:
  // Collects the addresses of a measurement; several threads may do so at once. `file` is the measurement's
  // number from here on.
  void collect(size_t file, const ProcessMeasurement& measurement);

  // What was collected, for another process, and what another one collected.
  void give(Packer& out) const;
  void take(Unpacker& in);

  // Of all that was collected; fills the database's modules, files and functions, whose order does not depend
  // on the measurements' order.
  void attribute(const AnalyzeOptions& options, Database& database, std::vector<std::string>& warnings);

  // After attribute(): the place of a frame in the given measurement. Throws std::out_of_range where
  // collect() has not seen it.
  PlaceId place(size_t file, uint64_t frame) const;

  // After attribute().
  std::optional<ModulePlaces::Code> code_at(PlaceId place) const { return modules_.code_at(place); }

  const PlaceTable& table() const { return table_; }

 private:
  // What the frames of one measurement mean.
  struct OfMeasurement {
    std::vector<uint32_t> modules;                        // by module id in its frames
    std::unordered_map<uint64_t, std::string> task_of;    // the names of what devices executed, by frame
    std::unordered_map<uint64_t, uint64_t> task_numbers;  // the same, numbered as ModulePlaces has them
  };
  uint32_t module_of_frame(uint64_t frame, const ProcessMeasurement& measurement);

  std::mutex lock_;
  ModulePlaces modules_;
  PlaceTable table_;
  std::vector<OfMeasurement> measurements_;
  std::map<std::string, uint64_t> tasks_;  // what devices executed, with the numbers
  uint32_t device_ = 0;                    // the module of these
  uint32_t lost_ = 0;                      // the module of frames that were lost to damage
};

}  // namespace prof
