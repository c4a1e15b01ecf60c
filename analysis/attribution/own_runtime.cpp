#include "analysis/attribution/own_runtime.h"

#include <map>
#include <string>

namespace prof {
namespace {

constexpr std::string_view kFolded = "[prof]";

// True for functions that programs call: they have the C name of the function that they replace, or are
// operators. Internal functions are C++, have C names of prof, belong to Zydis, or are unnamed in a stripped
// library.
bool is_in_front(std::string_view function) {
  const std::string_view name = function.substr(0, function.find('('));
  return name.find("::") == std::string_view::npos && name.find("+0x") == std::string_view::npos &&
         !name.starts_with("hpcrun_") && !name.starts_with("prof_") && !name.starts_with("Zydis");
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

bool is_own_runtime(std::string_view module_path) {
  const std::string_view name = file_name(module_path);
  // Measurements of version 0.1 have libhpcrun.so, libhpcrun-memory.so and so on.
  return name.starts_with("libprof-") || name.starts_with("libhpcrun.so") || name.starts_with("libhpcrun-");
}

bool is_allocator_front(std::string_view module_path) {
  const std::string_view name = file_name(module_path);
  return name.starts_with("libprof-heap.so") || name.starts_with("libhpcrun-memory.so");
}

bool is_folded_function(std::string_view function) {
  return function == kFolded;
}

AttributedModule fold_own_functions(const AttributedModule& attributed, std::string_view module_path) {
  const bool keeps_names = !is_allocator_front(module_path);
  AttributedModule folded;
  folded.warnings = attributed.warnings;
  folded.build_id = attributed.build_id;
  std::map<std::string_view, uint32_t> numbers;
  for (size_t address = 0; address + 1 < attributed.first.size(); ++address) {
    const AttributedFunction& function = attributed.functions[attributed.chain(address).front().function];
    const std::string_view name =
        keeps_names && is_in_front(function.name) ? std::string_view(function.name) : kFolded;
    const auto [at, added] = numbers.try_emplace(name, static_cast<uint32_t>(folded.functions.size()));
    if (added)
      folded.functions.push_back(
          {std::string(name), is_folded_function(name) ? 0 : function.offset, kNoFile, 0});
    folded.first.push_back(static_cast<uint32_t>(folded.frames.size()));
    folded.frames.push_back({.function = at->second});
  }
  folded.first.push_back(static_cast<uint32_t>(folded.frames.size()));
  return folded;
}

}  // namespace prof
