#pragma once
// One function per format; import_bytes() selects one.

#include "analysis/import/import.h"

namespace prof {

// Describes a file besides its contents.
struct ImportSource {
  std::string name;             // for messages
  uint64_t written_ns = 0;      // since the epoch; 0 if unknown
  uint32_t owner = UINT32_MAX;  // user ID; the maximum if unknown
};

// All throw ImportError.
Import import_collapsed(std::span<const uint8_t> bytes, const ImportSource& source);
Import import_pprof(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options);
Import import_perf(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options);

bool is_perf_data(std::span<const uint8_t> bytes);
bool is_gzip(std::span<const uint8_t> bytes);

// Throws ImportError.
std::vector<uint8_t> gunzip(std::span<const uint8_t> bytes, const ImportSource& source);

}  // namespace prof
