#pragma once
// Reads from the file of a load module what a measurement file records about it.

#include <cstdint>
#include <string>
#include <vector>

#include "exact/valgrind/dump_format.h"
#include "hpcrun/measurement/format.h"

namespace prof {

struct LoadedModule {
  std::string path;
  uint64_t start = 0;  // of all its segments
  uint64_t end = 0;
  uint64_t load_bias = 0;
  std::vector<uint8_t> build_id;
  hpcrun::FileIdentity file;
};

// If the file cannot be read, the module is only its mapped code.
LoadedModule read_loaded_module(const PeDumpModule& mapped, const std::string& path);

}  // namespace prof
