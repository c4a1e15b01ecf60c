#pragma once
// Constants of the HPCToolkit database format, version 4.0, that the writer and the reader share. Names are
// those of the format description (doc/FORMATS.md in HPCToolkit/hpctoolkit). All values are little-endian.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace prof::format {

constexpr std::string_view kMagic = "HPCTOOLKIT";
constexpr uint8_t kMajorVersion = 4;
constexpr uint8_t kMinorVersion = 0;

// A file: its name, the four characters after the magic, its footer, and the number of {size, pointer} pairs
// that follow.
struct FileKind {
  std::string_view name;
  std::string_view tag;
  std::string_view footer;
  size_t sections;
};
constexpr FileKind kMeta{"meta.db", "meta", "_meta.db", 8};
constexpr FileKind kProfile{"profile.db", "prof", "_prof.db", 2};
constexpr FileKind kCct{"cct.db", "ctxt", "__ctx.db", 1};
constexpr FileKind kTrace{"trace.db", "trce", "trace.db", 1};
constexpr std::string_view kRunFile = "run.json";
constexpr std::string_view kLaunchFile = "launches.sqlite";
constexpr std::string_view kInstructionFile = "instructions.sqlite";
constexpr uint32_t kInstructionVersion = 1;
constexpr std::string_view kFindingsFile = "findings.sqlite";
constexpr std::string_view kSourceFolder = "src";  // followed by the absolute path of a copied file
constexpr std::string_view kTaxonomyFile = "metrics/default.yaml";

constexpr size_t kVersionOffset = 0x0e;
constexpr size_t kSectionsOffset = 0x10;
constexpr size_t kFooterBytes = 8;
constexpr size_t header_bytes(const FileKind& kind) {
  return kSectionsOffset + 16 * kind.sections;
}

// Sections of meta.db, in header order.
enum MetaSection { General, IdNames, Metrics, ContextTree, Strings, Modules, Files, Functions };

// Sizes of structures. A reader uses the stride stored in the file, which may be larger.
constexpr size_t kMetricBytes = 32, kScopeInstanceBytes = 16, kSummaryBytes = 24, kScopeBytes = 16;
constexpr size_t kModuleBytes = 16, kFileBytes = 16, kFunctionBytes = 40;
constexpr size_t kEntryBytes = 32, kContextBytes = 32;  // a context is followed by its flex words
constexpr size_t kProfileInfoBytes = 48;  // the description says "currently 40" and omits padding
constexpr size_t kProfileInfoMinimum = 0x2c;
constexpr size_t kContextInfoBytes = 32;
constexpr size_t kTraceHeaderBytes = 24, kTraceElementBytes = 12;
constexpr size_t kProfileValueBytes = 10, kContextIndexBytes = 12;  // profile.db: {Val}, {Idx}
constexpr size_t kContextValueBytes = 12;                           // cct.db: {Val}

// Propagation scopes, in the order in which HPCToolkit numbers the propagated values of a metric.
enum class Scope : uint8_t { Point, Function, LexAware, Execution };
constexpr size_t kScopes = 4;
struct ScopeSpec {
  std::string_view name;
  uint8_t type;               // 0 custom, 1 point, 2 execution, 3 transitive
  uint8_t propagation_index;  // for transitive scopes
};
constexpr uint8_t kNoPropagationIndex = 255;
constexpr std::array<ScopeSpec, kScopes> kScopeSpecs = {{
    {"point", 1, kNoPropagationIndex},
    {"function", 3, 0},
    {"lex_aware", 0, kNoPropagationIndex},
    {"execution", 2, kNoPropagationIndex},
}};
// The bit of a context's propagation mask that passes "function" on to the parent.
constexpr uint16_t kFunctionPropagation = 1u << 0;

// Summary statistics: the formula is applied to each profile's value, then the results are combined.
enum class Combine : uint8_t { Sum, Minimum, Maximum };
constexpr std::string_view kValueFormula = "$$";
constexpr std::string_view kSquareFormula = "($$^2)";
constexpr std::string_view kCountFormula = "1";

enum ContextFlags : uint8_t { HasFunction = 1, HasSourceLine = 2, HasPoint = 4 };
constexpr uint32_t kFileCopied = 1;
constexpr uint32_t kSummaryProfile = 1;
constexpr uint16_t kPhysicalIdentifier = 1;

// Kinds of identifiers as HPCToolkit numbers them. PROCESS is prof's: the format lets the writer name kinds.
constexpr std::array<std::string_view, 9> kIdentifierNames = {
    "SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE", "PROCESS"};
enum IdentifierKind : uint8_t { Node = 1, Rank = 2, Thread = 3, GpuDevice = 4, GpuStream = 6, Process = 8 };

struct EntrySpec {
  uint16_t code;
  std::string_view name;
};
constexpr size_t kMainThreadEntry = 1;
constexpr std::array<EntrySpec, 3> kEntries = {
    {{0, "unknown entry"}, {1, "main thread"}, {2, "application thread"}}};

}  // namespace prof::format
