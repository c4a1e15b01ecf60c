#pragma once
// Attributes the addresses on the call paths of measurements to source.

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
  // Collects the addresses of a measurement. Safe to call from several threads at once. `file` is the
  // measurement's number in later calls.
  void collect(size_t file, const ProcessMeasurement& measurement);

  // Serialize what was collected for another process, and add what another one sent.
  void give(Packer& out) const;
  void take(Unpacker& in);

  // Attributes all collected addresses. Fills the database's modules, files and functions, whose order does
  // not depend on the order of measurements.
  void attribute(const AnalyzeOptions& options, Database& database, std::vector<std::string>& warnings);

  // Returns the place of a frame in the given measurement. Must be called after attribute(). Throws
  // std::out_of_range if collect() did not get the frame.
  PlaceId place(size_t file, uint64_t frame) const;

  // Must be called after attribute().
  std::optional<ModulePlaces::Code> code_at(PlaceId place) const { return modules_.code_at(place); }

  const PlaceTable& table() const { return table_; }

 private:
  // Resolves the frames of one measurement.
  struct OfMeasurement {
    std::vector<uint32_t> modules;                        // by module id in its frames
    std::unordered_map<uint64_t, std::string> task_of;    // names of what devices executed, by frame
    std::unordered_map<uint64_t, uint64_t> task_numbers;  // the same as numbers of ModulePlaces
  };
  uint32_t module_of_frame(uint64_t frame, const ProcessMeasurement& measurement);

  std::mutex lock_;
  ModulePlaces modules_;
  PlaceTable table_;
  std::vector<OfMeasurement> measurements_;
  std::map<std::string, uint64_t> tasks_;  // names of what devices executed, with their numbers
  uint32_t device_ = 0;                    // the module of these
  uint32_t lost_ = 0;                      // the module of frames that were lost to damage
};

}  // namespace prof
