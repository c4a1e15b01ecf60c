#pragma once
// Keeps the names of generated code after the process that generated it has ended.

#include <filesystem>
#include <string>

namespace prof {

// Copies perf maps from /tmp to the measurements, where the analysis searches first. The names are then
// available on another machine, or after /tmp was cleaned. Copies those of all measured processes, or of
// those whose measurement files begin with `file_prefix`. Maps that fail validation are not copied. Failures
// are ignored: they cost names, not the run.
void keep_perf_maps(const std::filesystem::path& directory, const std::string& file_prefix = {});

}  // namespace prof
