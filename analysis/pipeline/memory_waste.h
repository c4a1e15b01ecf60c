#pragma once
// Stores and loads that were wasted. Converts the pairs of accesses that a measurement has to metrics and to
// a list by calling contexts, over all threads and processes.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/pipeline/contention.h"
#include "analysis/run/memory_waste_record.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// Adds WRITTEN, DEAD_WRITE, SILENT_WRITE, LOADED and REDUNDANT_LOAD to the cells of the threads concerned.
void charge_memory_waste(ProcessMeasurement& measurement);

// True if waste was searched for in any of the processes.
bool searched_for_memory_waste(const std::vector<ProcessMeasurement>& measurements);

bool has_memory_waste(const ProcessMeasurement& measurement);

// Sums up the waste of all processes.
class MemoryWaste {
 public:
  // Adds one process. Adds one warning, of one line, for each module that cannot be read.
  void add(const ProcessMeasurement& measurement, std::span<const ThreadInDatabase> threads,
           const AttributionOptions& options, std::vector<std::string>& warnings);

  // Returns the sums, with a total for each kind that was searched for. Cuts a long list of pairs.
  MemoryWasteRecord take(const std::vector<ProcessMeasurement>& measurements);

 private:
  using Key = std::tuple<hpcrun::WasteKind, uint32_t, uint32_t, bool>;  // contexts, and whether a frame ended
  struct Sum {
    WastePair pair;
    uint64_t largest = 0;  // bytes of the cell that named the memory
  };

  WasteTotal& total_of(hpcrun::WasteKind kind);

  std::map<Key, Sum> sums_;
  std::map<hpcrun::WasteKind, WasteTotal> totals_;
};

}  // namespace prof
