#pragma once
// The formats of `prof export`, as one table: the command line, its help and the tests go by it.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "analysis/views/call_tree.h"
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
  bool needs_trace;         // says when samples were taken, and nothing without that
  // Exactly one of the two: into a stream, or into a folder that does not exist. Both let DatabaseError pass
  // (traces are read while writing); write_archive throws CommandError. Output remembers what went wrong.
  void (*write)(const CallTree& tree, Output& out);
  void (*write_archive)(const CallTree& tree, const std::filesystem::path& directory);
};

// In the order in which help lists them; ExportFormat counts through it.
std::span<const ExportFormatInfo> export_formats();
const ExportFormatInfo& export_format(ExportFormat format);
// False for what takes a library that was not there when prof was built.
bool can_export(std::string_view format);

}  // namespace prof
