#pragma once
// Names of generated code outlive the process that made it.

#include <filesystem>
#include <string>

namespace prof {

// Copies the perf maps that the measured processes, of all or of those whose files' names begin so, left in
// /tmp beside their measurements, where the analysis looks first: on another machine, or when /tmp was
// cleaned, the names are still there. Maps that are not believed stay where they are. Failures cost names,
// not the run: they are ignored.
void keep_perf_maps(const std::filesystem::path& directory, const std::string& file_prefix = {});

}  // namespace prof
