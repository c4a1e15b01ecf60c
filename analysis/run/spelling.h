#pragma once
// The names of a run's enums in JSON, for run.json and for reports: one table each, used for writing and
// reading. Tables are part of the format: append only.

#include <span>
#include <string_view>

#include "analysis/run/kinds.h"
#include "hpcrun/measurement/format.h"
#include "hpcrun/measurement/why_shared.h"
#include "hpcrun/model/cache_line.h"
#include "hpcrun/model/memory_access.h"

namespace prof {

template <typename Enum>
struct Spelling {
  Enum value;
  std::string_view text;
};

// Unknown texts are read as the first value. Defined for the enums below.
template <typename Enum>
std::span<const Spelling<Enum>> spellings();

// "false", "true", "mixed"; empty if there was no verdict
template <>
std::span<const Spelling<hpcrun::Sharing>> spellings();
// "reads", "writes", "reads and writes"
template <>
std::span<const Spelling<hpcrun::AccessKind>> spellings();
// "variable", "allocation", "unknown"
template <>
std::span<const Spelling<DataKind>> spellings();
// "Intel PEBS", "exact, by pages"; empty for watchpoints
template <>
std::span<const Spelling<EvidenceSource>> spellings();
// The evidence in which contention was searched: "Intel PEBS", "decoded instructions and breakpoints"
template <>
std::span<const Spelling<hpcrun::ContentionSource>> spellings();
// "align-objects", "pad-elements"; empty for none
template <>
std::span<const Spelling<Remedy>> spellings();
// "member", "type", "variable", "elements"
template <>
std::span<const Spelling<ChangedPart>> spellings();
// "mutex", "critical section", "end of a thread"
template <>
std::span<const Spelling<WaitedFor>> spellings();
// "robust", "spin"
template <>
std::span<const Spelling<LockObstacle>> spellings();
// "dead-store", "silent-store", "redundant-load"
template <>
std::span<const Spelling<hpcrun::WasteKind>> spellings();
// "placed", "planned", "declined"
template <>
std::span<const Spelling<SiteFate>> spellings();
// "isolated", "shared"
template <>
std::span<const Spelling<PageFate>> spellings();
// A clause of a sentence: "the program forked"; empty if it is isolated, or the reason is unknown
template <>
std::span<const Spelling<hpcrun::WhyShared>> spellings();
// "run", "contention", "traces"
template <>
std::span<const Spelling<hpcrun::NoteKind>> spellings();
// "annotated", "calls"; empty if nothing was isolated
template <>
std::span<const Spelling<Guarantee>> spellings();

// Texts that earlier releases wrote and that are still read.
template <typename Enum>
std::span<const Spelling<Enum>> former_spellings() {
  return {};
}
template <>
std::span<const Spelling<hpcrun::WhyShared>> former_spellings();

template <typename Enum>
std::string_view name_of(Enum value) {
  for (const Spelling<Enum>& one : spellings<Enum>())
    if (one.value == value) return one.text;
  return {};
}

template <typename Enum>
Enum named(std::string_view text) {
  for (const Spelling<Enum>& one : spellings<Enum>())
    if (one.text == text) return one.value;
  for (const Spelling<Enum>& one : former_spellings<Enum>())
    if (one.text == text) return one.value;
  return spellings<Enum>().front().value;
}

}  // namespace prof
