#include "analysis/attribution/function_table.h"

#include <fmt/format.h>

#include "analysis/attribution/demangle.h"

namespace prof {

uint32_t FunctionTable::file(std::string_view path) {
  // "dir/../other/x.c" and "dir/./x.c" are reported as the shorter path.
  std::string normal = std::filesystem::path(path).lexically_normal().string();
  const auto [at, added] = files_.try_emplace(normal, static_cast<uint32_t>(out_.files.size()));
  if (added) out_.files.push_back(std::move(normal));
  return at->second;
}

uint32_t FunctionTable::defined_function(std::string_view linkage_name, uint32_t file, uint32_t line) {
  const auto [at, added] = defined_.try_emplace(fmt::format("{}\n{}:{}", linkage_name, file, line),
                                                static_cast<uint32_t>(out_.functions.size()));
  if (added) out_.functions.push_back({demangle(linkage_name), 0, file, line});
  return at->second;
}

uint32_t FunctionTable::function_at(uint64_t offset, std::string_view name) {
  const auto [at, added] = by_offset_.try_emplace(offset, static_cast<uint32_t>(out_.functions.size()));
  if (added) out_.functions.push_back({demangle(name), offset, kNoFile, 0});
  return at->second;
}

void FunctionTable::starts_at(uint32_t function, uint64_t offset) {
  uint64_t& known = out_.functions[function].offset;
  if (known == 0 || offset < known) known = offset;
}

}  // namespace prof
