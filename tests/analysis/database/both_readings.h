#pragma once
// A database read at once and read as it is asked for has to be the same.

#include <filesystem>
#include <string>

namespace prof::test {

// Empty where both ways of reading give the same values, or both refuse the database; else what differs.
std::string difference_of_readings(const std::filesystem::path& directory);

}  // namespace prof::test
