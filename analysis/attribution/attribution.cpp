#include "analysis/attribution/attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <functional>
#include <optional>
#include <system_error>
#include <tuple>

#include "analysis/attribution/debug_file.h"
#include "analysis/attribution/function_table.h"
#include "analysis/attribution/go_functions.h"
#include "analysis/attribution/module_file.h"
#include "analysis/attribution/source_units.h"
#include "analysis/attribution/symbols.h"

namespace prof {
namespace {

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Returns the name for code whose function start is unknown.
std::string unknown_in(const std::string& module) {
  return module.starts_with('[') ? module : "[" + module + "]";
}

std::string warning(OpenFailure failure, const std::string& path, int error) {
  switch (failure) {
    case OpenFailure::Unreadable:
      return fmt::format("{}: cannot be read: {}; its functions have no names", path,
                         std::generic_category().message(error));
    case OpenFailure::Missing:
      return fmt::format("{}: no longer exists; its functions have no names", path);
    case OpenFailure::NotElf:
      return fmt::format("{}: not a readable ELF file; its functions have no names", path);
    case OpenFailure::Changed:
      return fmt::format("{}: has changed since the run (different build ID); its functions have no names",
                         path);
    case OpenFailure::Another:
      return fmt::format(
          "{}: is not the measured file (different size, no build ID); its functions have no names", path);
    case OpenFailure::ForeignVdso:
      return "[vdso]: measured under another kernel; its functions have no names";
    case OpenFailure::None:
      break;
  }
  return {};
}

// Names addresses that the debug information does not cover. Reads its sources when the first such address
// occurs.
class Fallback {
 public:
  Fallback(const ModuleFile& file, const std::string& module, FunctionTable& table)
      : module_(module),
        table_(table),
        go_(go_functions(file.elf())),
        stubs_(linkage_stubs(file.elf())),
        symbols_(function_symbols(file)),
        starts_(frame_starts(file.elf())) {}

  // Returns the frame, with file and line if known.
  AttributedFrame frame(uint64_t address) {
    AttributedFrame frame;
    if (const auto location = go_ ? go_->find(address) : std::nullopt) {
      const uint32_t file = file_of(location->definition_file);
      frame.function = table_.defined_function(location->name, file, location->definition_line);
      table_.starts_at(frame.function, location->start);
      frame.file = file_of(location->file);
      frame.line = frame.file == kNoFile ? 0 : location->line;
    } else {
      frame.function = function(address);
    }
    return frame;
  }

 private:
  uint32_t file_of(std::string_view path) { return path.empty() ? kNoFile : table_.file(path); }

  uint32_t function(uint64_t address) {
    if (const NamedRange* stub = stubs_.find(address)) return table_.function_at(stub->start, stub->name);
    if (const NamedRange* symbol = symbols_.find(address))
      return table_.function_at(symbol->start, symbol->name);
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), address);
    if (after == starts_.begin()) return table_.function_at(0, unknown_in(module_));
    const uint64_t start = *std::prev(after);
    return table_.function_at(start, fmt::format("{}+{:#x}", module_, start));
  }

  const std::string& module_;
  FunctionTable& table_;
  std::optional<GoFunctions> go_;
  NamedRanges stubs_;
  NamedRanges symbols_;
  std::vector<uint64_t> starts_;
};

}  // namespace

AttributedModule attribute_module(const ModuleIdentity& module, std::span<const uint64_t> addresses,
                                  const AttributionOptions& options) {
  assert(std::ranges::adjacent_find(addresses, std::greater_equal()) == addresses.end());
  AttributedModule out;
  FunctionTable table(out);
  const std::string name = file_name(module.path);
  out.first.reserve(addresses.size() + 1);
  out.first.push_back(0);

  ModuleFile file;
  const OpenFailure failure = file.open(module, options);
  SourceChains sources;
  if (failure == OpenFailure::None) {
    out.build_id = build_id_of(file.elf());
    sources = attribute_by_dwarf(file, addresses, table);
  } else {
    out.warnings.push_back(warning(failure, module.path, file.open_error()));
  }
  if (failure == OpenFailure::None && file.may_be_another())
    out.warnings.push_back(
        fmt::format("{}: is not the measured file but has the same size, and no build ID; unless it is a "
                    "copy, names and lines are wrong",
                    module.path));
  else if (failure == OpenFailure::None && file.may_have_changed())
    out.warnings.push_back(
        fmt::format("{}: was modified after the run started and has no build ID; if it was rebuilt, names "
                    "and lines are wrong",
                    module.path));

  std::optional<Fallback> fallback;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (!sources.chains.empty() && !sources.chains[i].empty()) {
      out.frames.insert(out.frames.end(), sources.chains[i].begin(), sources.chains[i].end());
    } else {
      AttributedFrame frame = sources.lines.empty() ? AttributedFrame{} : sources.lines[i];
      if (failure != OpenFailure::None) {
        frame.function = table.function_at(0, unknown_in(name));
      } else {
        if (!fallback) fallback.emplace(file, name, table);
        const AttributedFrame named = fallback->frame(addresses[i]);
        frame.function = named.function;
        if (frame.line == 0) std::tie(frame.file, frame.line) = std::tie(named.file, named.line);
      }
      out.frames.push_back(frame);
    }
    out.first.push_back(static_cast<uint32_t>(out.frames.size()));
  }
  return out;
}

}  // namespace prof
