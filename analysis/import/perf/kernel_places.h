#pragma once
// Code in the kernel as places of a database: its own functions, its modules and the code that it generated.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/import/builder.h"
#include "analysis/import/perf/kernel_symbols.h"
#include "analysis/import/perf/recording.h"

namespace prof::perf {

class KernelPlaces {
 public:
  void add(const KernelSymbol& symbol);  // generated code
  void add(const Mapping& mapping);      // of the kernel itself or a module

  // Searches for names of functions. `here`: recorded on this machine.
  void find_names(const std::vector<BuildId>& build_ids, bool here, std::vector<std::string>& warnings);

  // Returns the function at the address; only the module if the function has no name or no names were found.
  PlaceId place(uint64_t address, DatabaseBuilder& builder) const;

 private:
  struct MadeCode {
    uint64_t end;
    std::string name;
  };
  struct Module {
    uint64_t last;  // its last byte
    std::string path;
  };

  std::map<uint64_t, MadeCode> made_;   // by start
  std::map<uint64_t, Module> modules_;  // by start
  std::optional<uint64_t> start_;       // of the kernel, as recorded
  std::optional<KernelSymbols> symbols_;
  uint64_t slide_ = 0;
};

}  // namespace prof::perf
