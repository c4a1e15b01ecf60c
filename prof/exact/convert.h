#pragma once
// Converts the dump of one process to a measurement file, as prof's runtime writes it.

#include <filesystem>

#include "prof/exact/dump.h"

namespace prof {

// Writes <host>-0-<pid>-<n>.prof in the directory. Throws DumpError if the file cannot be written.
void convert_exact_dump(const ExactDump& dump, const std::filesystem::path& directory);

}  // namespace prof
