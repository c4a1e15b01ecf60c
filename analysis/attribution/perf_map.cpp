#include <algorithm>
#include <charconv>
#include <fstream>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/function_table.h"

namespace prof {
namespace {

struct MappedCode {
  uint64_t start = 0;
  uint64_t end = 0;
  std::string name;
};

bool parse_line(std::string_view line, MappedCode& code) {
  const char* const end = line.data() + line.size();
  uint64_t size = 0;
  auto [after_start, start_error] = std::from_chars(line.data(), end, code.start, 16);
  if (start_error != std::errc{} || after_start == end || *after_start != ' ') return false;
  auto [after_size, size_error] = std::from_chars(after_start + 1, end, size, 16);
  if (size_error != std::errc{} || after_size == end || *after_size != ' ') return false;
  code.end = code.start + size;
  code.name.assign(after_size + 1, end);
  return !code.name.empty() && code.end > code.start;
}

// Compilers reuse memory: of the lines that cover an address the last written is the one in force at the end.
std::vector<MappedCode> read_map(const std::filesystem::path& path) {
  std::vector<MappedCode> codes;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    MappedCode code;
    if (parse_line(line, code)) codes.push_back(std::move(code));
  }
  std::reverse(codes.begin(), codes.end());
  std::stable_sort(codes.begin(), codes.end(),
                   [](const MappedCode& a, const MappedCode& b) { return a.start < b.start; });
  codes.erase(std::unique(codes.begin(), codes.end(),
                          [](const MappedCode& a, const MappedCode& b) { return a.start == b.start; }),
              codes.end());
  return codes;
}

}  // namespace

AttributedModule attribute_jit(const std::filesystem::path& perf_map, std::span<const uint64_t> addresses) {
  AttributedModule out;
  FunctionTable table(out);
  const std::vector<MappedCode> codes = read_map(perf_map);
  out.first.push_back(0);
  for (const uint64_t address : addresses) {
    auto after = std::upper_bound(codes.begin(), codes.end(), address,
                                  [](uint64_t a, const MappedCode& code) { return a < code.start; });
    const bool named = after != codes.begin() && address < std::prev(after)->end;
    const uint32_t function = named ? table.function_at(std::prev(after)->start, std::prev(after)->name)
                                    : table.function_at(0, "[jit]");
    out.frames.push_back({function, kNoFile, 0, false});
    out.first.push_back(static_cast<uint32_t>(out.frames.size()));
  }
  return out;
}

}  // namespace prof
