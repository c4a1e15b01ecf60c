#pragma once
// Looks into the test's ELF files, to know what attribution must find.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/attribution.h"

struct Extent {
  uint64_t start = 0;
  uint64_t end = 0;
};

// Code of the function whose linkage name contains `name`, by .symtab; fails the test when it is not there.
Extent function_extent(const std::filesystem::path& file, const std::string& name);

// All sections with that name prefix.
std::vector<Extent> section_extents(const std::filesystem::path& file, const std::string& prefix);

std::vector<uint8_t> build_id(const std::filesystem::path& file);

// Every address of the extent.
std::vector<uint64_t> addresses_of(Extent extent);

// The number of the line that ends with the comment "at: <mark>".
uint32_t marked_line(const std::filesystem::path& source, const std::string& mark);

// Copies a file, with those sections compressed by zstd whose name begins with one of the prefixes.
void compress_by_zstd(const std::filesystem::path& from, const std::filesystem::path& to,
                      const std::vector<std::string>& prefixes);
