#include "prof/export/export_format.h"

#include "prof/export/formats.h"

namespace prof {
namespace {

// name, program that opens it, one metric, binary, needs a trace
constexpr ExportFormatInfo kFormats[] = {
    {ExportFormat::Collapsed, "collapsed", "flamegraph.pl, inferno, speedscope", true, false, false,
     export_collapsed, nullptr},
    {ExportFormat::Pprof, "pprof", "go tool pprof, Grafana, Polar Signals", false, true, false, export_pprof,
     nullptr},
    {ExportFormat::Speedscope, "speedscope", "speedscope.app", false, false, false, export_speedscope,
     nullptr},
    {ExportFormat::Firefox, "firefox", "profiler.firefox.com, samply load", true, false, false,
     export_firefox, nullptr},
    {ExportFormat::Perfetto, "perfetto", "ui.perfetto.dev, trace_processor", false, true, true,
     export_perfetto, nullptr},
    {ExportFormat::Callgrind, "callgrind", "KCachegrind, callgrind_annotate", false, false, false,
     export_callgrind, nullptr},
    {ExportFormat::Otf2, "otf2", "Vampir, otf2-print, Hatchet", false, true, true, nullptr, export_otf2},
    {ExportFormat::Csv, "csv", "spreadsheets, pandas, R", false, false, false, export_csv, nullptr},
    {ExportFormat::Json, "json", "scripts (docs/export.md describes it)", false, false, false, export_json,
     nullptr},
    {ExportFormat::Html, "html", "browsers: a flame graph in one page", false, false, false, export_html,
     nullptr},
    {ExportFormat::Cali, "cali", "Hatchet, Thicket", false, false, false, export_cali, nullptr},
    {ExportFormat::Extrap, "extrap", "Extra-P: models over runs of many sizes", false, false, false,
     export_extrap, nullptr},
};

}  // namespace

std::span<const ExportFormatInfo> export_formats() {
  return kFormats;
}

bool can_export(std::string_view format) {
  return format != "otf2" || has_otf2();
}

const ExportFormatInfo& export_format(ExportFormat format) {
  return kFormats[static_cast<size_t>(format)];
}

}  // namespace prof
