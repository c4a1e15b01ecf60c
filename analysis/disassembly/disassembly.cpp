#include "analysis/disassembly/disassembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/database/instruction_costs.h"
#include "analysis/disassembly/machine_code.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

void decode_rows(const MachineCode& code, const std::vector<CodeRange>& ranges, Syntax syntax,
                 Disassembly& out) {
  const auto is_own = [&](uint64_t offset) {
    return std::ranges::any_of(
        ranges, [&](const CodeRange& range) { return offset >= range.begin && offset < range.end; });
  };
  // Jumps within the function are followed by their offsets, others by names.
  const auto name_of = [&](uint64_t offset) { return is_own(offset) ? std::string() : code.name_of(offset); };
  for (const CodeRange& range : ranges) {
    const std::vector<uint8_t> bytes = code.bytes(range);
    for (DecodedInstruction& decoded : decode_instructions(bytes, range.begin, syntax, name_of)) {
      CodeRow& row = out.rows.emplace_back();
      const auto first = bytes.begin() + static_cast<ptrdiff_t>(decoded.address - range.begin);
      row.offset = decoded.address;
      row.bytes.assign(first, first + decoded.length);
      row.text = std::move(decoded.text);
      row.target = decoded.target;
      if (decoded.target && !decoded.is_call) row.target_row = 0;  // filled in by link_jumps()
    }
  }
}

void link_jumps(Disassembly& out) {
  // The compiler moves cold code elsewhere; a backward jump to such code is not a loop.
  std::vector<uint32_t> part_of(out.rows.size(), 0);
  for (size_t i = 1; i < out.rows.size(); ++i) {
    const CodeRow& before = out.rows[i - 1];
    part_of[i] = part_of[i - 1] + (before.offset + before.bytes.size() == out.rows[i].offset ? 0 : 1);
  }
  std::map<uint32_t, uint32_t> loops;  // from the start of a loop to the last jump back to it
  for (uint32_t i = 0; i < out.rows.size(); ++i) {
    CodeRow& row = out.rows[i];
    if (row.target_row == kNone) continue;
    row.target_row = out.row_at(*row.target);
    if (row.target_row == kNone) continue;
    out.rows[row.target_row].is_target = true;
    if (row.target_row <= i && part_of[row.target_row] == part_of[i]) loops[row.target_row] = i;
  }
  for (const auto& [first, last] : loops)
    for (uint32_t i = first; i <= last; ++i) ++out.rows[i].loops;
}

// Returns the files of the database by their path.
std::unordered_map<std::string, uint32_t> files_of(const Database& database) {
  std::unordered_map<std::string, uint32_t> files;
  for (uint32_t i = 0; i < database.files.size(); ++i) files.try_emplace(database.files[i].path, i);
  return files;
}

void name_lines(const MachineCode& code, const Database& database, const AttributionOptions& options,
                Disassembly& out) {
  std::vector<uint64_t> offsets;
  for (const CodeRow& row : out.rows) offsets.push_back(row.offset);
  const AttributedModule attributed = attribute_module(code.identity(), offsets, options);
  const std::unordered_map<std::string, uint32_t> files = files_of(database);
  const auto find = [&](const std::string& path) {
    // Copied files are stored by their normalized path.
    auto known = files.find(path);
    if (known == files.end()) known = files.find(fs::path(path).lexically_normal().string());
    return known == files.end() ? kNone : known->second;
  };
  std::vector<uint32_t> file_of;
  for (const std::string& path : attributed.files) file_of.push_back(find(path));
  for (size_t i = 0; i < out.rows.size(); ++i) {
    const AttributedFrame& frame = attributed.chain(i).back();
    CodeRow& row = out.rows[i];
    row.function = attributed.functions[frame.function].name;
    row.is_inlined = frame.inlined;
    row.line = frame.line;
    if (frame.file == kNoFile) continue;
    row.path = attributed.files[frame.file];
    row.file = file_of[frame.file];
  }
  if (!out.rows.empty()) out.function = attributed.functions[attributed.chain(0).front().function].name;
}

void add_costs(const fs::path& directory, const Database& database, uint32_t module,
               const std::vector<CodeRange>& ranges, Disassembly& out) {
  out.metrics = database.metrics.size();
  out.totals.assign(out.metrics, 0);
  for (const CodeRange& range : ranges) {
    const auto costs = read_instruction_costs(directory, database, module, range.begin, range.end);
    if (!costs) {
      const std::string unknown =
          "the database has no costs of single instructions; analyze the measurements again";
      out.note += out.note.empty() ? unknown : "; " + unknown;
      return;
    }
    out.costs.resize(out.rows.size() * out.metrics);
    for (const InstructionCost& cost : *costs) {
      const uint32_t row = out.row_at(cost.offset);
      if (row == kNone) continue;
      out.costs[row * out.metrics + cost.metric] += cost.value;
      out.totals[cost.metric] += cost.value;
    }
  }
}

}  // namespace

uint32_t Disassembly::row_at(uint64_t offset) const {
  const auto behind = std::ranges::upper_bound(rows, offset, {}, &CodeRow::offset);
  if (behind == rows.begin()) return kNone;
  const auto row = std::prev(behind);
  return offset - row->offset < row->bytes.size() ? static_cast<uint32_t>(row - rows.begin()) : kNone;
}

Disassembly disassemble(const fs::path& directory, const Database& database, const CodeLocation& location,
                        Syntax syntax, const AttributionOptions& options) {
  Disassembly out;
  if (location.module >= database.modules.size()) {
    out.failure = "the load module of this code is not known";
    return out;
  }
  const LoadModule& module = database.modules[location.module];
  out.path = module.path;
  const MachineCode code(module, options);
  out.failure = code.failure();
  if (!out.failure.empty()) return out;
  out.note = code.note();
  const std::vector<CodeRange> ranges = code.ranges_of_function(location.offset);
  decode_rows(code, ranges, syntax, out);
  if (out.rows.empty()) {
    out.failure = fmt::format("{}: no function is known at {:#x}", module.path, location.offset);
    return out;
  }
  link_jumps(out);
  name_lines(code, database, options, out);
  add_costs(directory, database, location.module, ranges, out);
  return out;
}

}  // namespace prof
