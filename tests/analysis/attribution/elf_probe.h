#pragma once
// Reads the test's ELF files to determine what attribution must find.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"

struct Extent {
  uint64_t start = 0;
  uint64_t end = 0;
};

// Returns the code of the function whose linkage name contains `name`, by .symtab. Fails the test if there is
// none.
Extent function_extent(const std::filesystem::path& file, const std::string& name);

// Returns all sections whose names begin with `prefix`.
std::vector<Extent> section_extents(const std::filesystem::path& file, const std::string& prefix);

std::vector<uint8_t> build_id(const std::filesystem::path& file);

// Returns every address of the extent.
std::vector<uint64_t> addresses_of(Extent extent);

// Returns the number of the line that ends with the comment "at: <mark>".
uint32_t marked_line(const std::filesystem::path& source, const std::string& mark);

// Copies a file and compresses the sections whose names begin with one of the prefixes with zstd.
void compress_by_zstd(const std::filesystem::path& from, const std::filesystem::path& to,
                      const std::vector<std::string>& prefixes);
