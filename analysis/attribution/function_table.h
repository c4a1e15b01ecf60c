#pragma once
// Collects the files and functions of one module while its addresses are attributed; equal ones get one
// entry.

#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/attribution/attribution.h"

namespace prof {

class FunctionTable {
 public:
  explicit FunctionTable(AttributedModule& out) : out_(out) {}

  uint32_t file(std::string_view path);

  // A function known to the debug information. The same linkage name defined at the same place is one
  // function, whichever unit describes it.
  uint32_t defined_function(std::string_view linkage_name, uint32_t file, uint32_t line);

  // A function of which only the start is known to be its own.
  uint32_t function_at(uint64_t offset, std::string_view name);

  // Says that a copy of the function starts at offset; the lowest one counts.
  void starts_at(uint32_t function, uint64_t offset);

 private:
  AttributedModule& out_;
  std::unordered_map<std::string, uint32_t> files_;
  std::unordered_map<std::string, uint32_t> defined_;
  std::unordered_map<uint64_t, uint32_t> by_offset_;
};

}  // namespace prof
