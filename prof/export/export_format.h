#pragma once
// The formats of `prof export` as one table, which the command line, its help and the tests use.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "analysis/views/tree/call_tree.h"
#include "prof/report/output.h"

namespace prof {

enum class ExportFormat : uint8_t {
  Collapsed,
  Pprof,
  Speedscope,
  Firefox,
  Perfetto,
  Callgrind,
  Otf2,
  Csv,
  Json,
  Html,
  Cali,
  Extrap
};

struct ExportFormatInfo {
  ExportFormat format;
  const char* name;         // as --format takes it
  const char* opened_with;  // for help and lists
  bool one_metric;          // holds the first metric of the tree only
  bool binary;              // not for terminals
  bool needs_trace;         // contains the times of samples only
  // Exactly one of the two is set: the format is written into a stream, or into a folder that does not exist.
  // Both throw DatabaseError, because traces are read while writing; write_archive also throws CommandError.
  // Output records its own errors.
  void (*write)(const CallTree& tree, Output& out);
  void (*write_archive)(const CallTree& tree, const std::filesystem::path& directory);
};

// Returns the formats in the order in which help lists them, which is that of ExportFormat.
std::span<const ExportFormatInfo> export_formats();
const ExportFormatInfo& export_format(ExportFormat format);
// Returns false if the format needs a library that was missing when prof was built.
bool can_export(std::string_view format);

}  // namespace prof
