#pragma once
// Collects the files and functions of one module during attribution. Equal ones get one entry.

#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/attribution/attribution.h"

namespace prof {

class FunctionTable {
 public:
  explicit FunctionTable(AttributedModule& out) : out_(out) {}

  uint32_t file(std::string_view path);

  // Adds a function that the debug information describes. The same linkage name defined at the same place is
  // one function, in whichever unit it is described.
  uint32_t defined_function(std::string_view linkage_name, uint32_t file, uint32_t line);

  // Adds a function that is identified by its start alone.
  uint32_t function_at(uint64_t offset, std::string_view name);

  // Records that a copy of the function starts at `offset`; the lowest offset counts.
  void starts_at(uint32_t function, uint64_t offset);

 private:
  AttributedModule& out_;
  std::unordered_map<std::string, uint32_t> files_;
  std::unordered_map<std::string, uint32_t> defined_;
  std::unordered_map<uint64_t, uint32_t> by_offset_;
};

}  // namespace prof
