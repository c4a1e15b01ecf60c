#pragma once
// Finds the variable at an address of one process. A module is read when an address in it is first looked up.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/variables.h"
#include "hpcrun/measurement/reader.h"

namespace prof {

// A module in memory, whose variables can be looked up.
struct ModuleInMemory {
  uint64_t start = 0, end = 0;  // addresses
  uint64_t bias = 0;            // difference between its addresses in memory and in its file
  ModuleIdentity identity;
};

std::vector<ModuleInMemory> modules_in_memory(const ProcessMeasurement& measurement);

struct VariableInMemory {
  const Variable* variable = nullptr;    // nullptr if there is none
  const Variables* variables = nullptr;  // of its module
  uint64_t begin = 0;                    // start of the variable in memory
};

class ProcessVariables {
 public:
  // Owns neither. Each module that cannot be read is reported in one warning.
  ProcessVariables(std::span<const ModuleInMemory> modules, const AttributionOptions& options,
                   std::vector<std::string>& warnings)
      : modules_(modules), options_(options), warnings_(warnings) {}

  // The result is valid as long as this object.
  VariableInMemory find(uint64_t address);

 private:
  struct OpenModule {
    ModuleFile file;
    std::unique_ptr<Variables> variables;  // nullptr if the file cannot be used
  };

  const Variables* open(const ModuleInMemory& module);

  std::span<const ModuleInMemory> modules_;
  const AttributionOptions& options_;
  std::vector<std::string>& warnings_;
  std::map<const ModuleInMemory*, OpenModule> open_;
};

// Returns "queue.cpp:12", without folders; empty if unknown.
std::string place_in_source(const std::string& file, uint32_t line);

}  // namespace prof
