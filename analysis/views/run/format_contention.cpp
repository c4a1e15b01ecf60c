#include "analysis/views/run/format_contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

constexpr size_t kNamedAllocations = 2;
constexpr size_t kNamedVariables = 3;

// Returns "an allocation of 64 B from make (main.cpp:7)".
std::string format_allocation(const CallTree& tree, const ContendedRecord::Allocation& allocation) {
  std::string text =
      allocation.objects == 1 ? "an allocation" : fmt::format("{} allocations", allocation.objects);
  if (allocation.bytes > 0)
    text += fmt::format(" of {}", format_bytes(static_cast<double>(allocation.bytes)));
  return allocation.context == 0
             ? text
             : text + fmt::format(" from {}", format_code(frames_of(tree, allocation.context)));
}

// Returns "table (app.c:4)", or "table (app.c:4) and guard (app.c:5)".
std::string format_variables(const ContendedRecord& record) {
  std::vector<std::pair<std::string, std::string>> variables{{record.name, record.declared}};
  for (const ContendedRecord::Side& side : record.sides)
    if (const std::pair variable{side.name, side.declared};
        !side.name.empty() && std::ranges::find(variables, variable) == variables.end())
      variables.push_back(variable);
  std::string text;
  const size_t named = std::min(variables.size(), kNamedVariables);
  for (size_t i = 0; i < named; ++i) {
    const auto& [name, declared] = variables[i];
    text += (i == 0 ? "" : i + 1 == variables.size() ? " and " : ", ") + name;
    if (!declared.empty()) text += fmt::format(" ({})", declared);
  }
  if (variables.size() > named)
    text += fmt::format(" and {}", format_count(variables.size() - named, "more variable"));
  return text;
}

}  // namespace

std::optional<std::string> reason_no_contention(const RunSummary& run) {
  if (run.looked_for_contention) return std::nullopt;
  if (const std::vector<std::string> notes = contention_notes(run); !notes.empty()) return notes.front();
  return "contention was not measured in this run; measure with prof run -e contention, or import a "
         "recording of perf c2c";
}

std::vector<std::string> contention_sources(const RunSummary& run) {
  std::vector<std::string> names;
  for (const hpcrun::ContentionSource source : run.contention_sources) names.emplace_back(name_of(source));
  return names;
}

std::vector<std::string> contention_notes(const RunSummary& run) {
  std::vector<std::string> notes;
  if (run.looked_for_contention && run.processes > 1)
    notes.push_back(fmt::format(
        "Contention between processes is not measured: {} processes were measured separately, even if "
        "they share memory.",
        run.processes));
  std::ranges::move(sentences(run.notes, hpcrun::NoteKind::Contention), std::back_inserter(notes));
  return notes;
}

std::string format_object(const CallTree& tree, const ContendedRecord& record) {
  if (record.kind == DataKind::Unknown)
    return fmt::format("memory at {:#x}{}", record.address, record.name.empty() ? "" : " in " + record.name);
  std::string text = record.kind == DataKind::Variable ? format_variables(record) : "";
  for (size_t i = 0; i < std::min(record.allocations.size(), kNamedAllocations); ++i)
    text += (text.empty() ? "" : " and ") + format_allocation(tree, record.allocations[i]);
  return text;
}

std::string format_part(const ContendedRecord& record, const ContendedRecord::Side& side) {
  // Data beside the object on its line, such as an allocator's own, have an address instead of an offset.
  const bool is_beside =
      record.kind != DataKind::Unknown && side.line != 0 && side.offset - side.line_offset == side.line;
  if (is_beside) return fmt::format("memory at {:#x}", side.offset);
  if (record.kind == DataKind::Variable && side.allocation == 0)
    return (side.name.empty() ? record.name : side.name) + side.place;
  const std::string bytes = side.bytes == 1
                                ? fmt::format("byte {}", side.offset)
                                : fmt::format("bytes {} to {}", side.offset, side.offset + side.bytes - 1);
  return side.object == 0 ? bytes : fmt::format("{} of object {}", bytes, side.object);
}

std::string format_counted(const ContendedRecord::Side& side) {
  return fmt::format("{}{}{}, {}", side.place, side.place.empty() ? "" : ", ",
                     format_count(side.bytes, "byte"), format_count(side.accesses, "time"));
}

}  // namespace prof
