#pragma once
// The variables of one process in memory: which one an address of it lies in. Modules are read when an
// address first lies in them.

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

// A module in memory, in whose variables addresses may lie.
struct ModuleInMemory {
  uint64_t start = 0, end = 0;  // addresses
  uint64_t bias = 0;            // how much higher it lies than its file says
  ModuleIdentity identity;
};

std::vector<ModuleInMemory> modules_in_memory(const ProcessMeasurement& measurement);

struct VariableInMemory {
  const Variable* variable = nullptr;    // nullptr: none is there
  const Variables* variables = nullptr;  // of its module
  uint64_t begin = 0;                    // where it lies in memory
};

class ProcessVariables {
 public:
  // Neither is owned. A module that cannot be read is a warning, once.
  ProcessVariables(std::span<const ModuleInMemory> modules, const AttributionOptions& options,
                   std::vector<std::string>& warnings)
      : modules_(modules), options_(options), warnings_(warnings) {}

  // What is found stays as long as this object.
  VariableInMemory find(uint64_t address);

 private:
  struct OpenModule {
    ModuleFile file;
    std::unique_ptr<Variables> variables;  // nullptr: the file cannot be used
  };

  const Variables* open(const ModuleInMemory& module);

  std::span<const ModuleInMemory> modules_;
  const AttributionOptions& options_;
  std::vector<std::string>& warnings_;
  std::map<const ModuleInMemory*, OpenModule> open_;
};

// "queue.cpp:12", without folders; empty where it is not known.
std::string place_in_source(const std::string& file, uint32_t line);

}  // namespace prof
