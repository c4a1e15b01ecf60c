#pragma once
// Compares the two ways of reading a database: at once, and on demand.

#include <filesystem>
#include <string>

namespace prof::test {

// Returns an empty string if both ways give the same values, or both refuse the database; else the
// difference.
std::string difference_of_readings(const std::filesystem::path& directory);

}  // namespace prof::test
