#pragma once
// The files of a database in one input: each preceded by its size in 4 bytes, in this order.

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>

#include "tests/analysis/database/files.h"

namespace prof::test {

inline constexpr const char* kFuzzedFiles[] = {"meta.db",  "profile.db",      "trace.db",
                                               "run.json", "launches.sqlite", "instructions.sqlite"};

inline void append_part(std::string& input, const std::string& part) {
  const auto size = static_cast<uint32_t>(part.size());
  char prefix[sizeof size];
  std::memcpy(prefix, &size, sizeof size);
  input.append(prefix, sizeof prefix).append(part);
}

inline std::string_view take_part(std::string_view& input) {
  uint32_t size = 0;
  if (input.size() >= sizeof size) {
    std::memcpy(&size, input.data(), sizeof size);
    input.remove_prefix(sizeof size);
  }
  const std::string_view part = input.substr(0, size);
  input.remove_prefix(part.size());
  return part;
}

// A missing file is an empty part.
inline std::string packed_database(const std::filesystem::path& folder) {
  std::string input;
  for (const char* name : kFuzzedFiles)
    append_part(input, std::filesystem::exists(folder / name) ? read_bytes(folder / name) : "");
  return input;
}

inline void unpack_database(std::string_view input, const std::filesystem::path& folder) {
  for (const char* name : kFuzzedFiles) {
    const std::string_view part = take_part(input);
    if (part.empty())
      std::filesystem::remove(folder / name);
    else
      write_bytes(folder / name, std::string(part));
  }
}

}  // namespace prof::test
