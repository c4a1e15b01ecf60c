#include "prof/commands/list.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/database/database.h"
#include "analysis/views/tree/wording.h"
#include "hpcrun/measurement/device_metrics.h"
#include "hpcrun/measurement/lock_metrics.h"
#include "hpcrun/measurement/waste_metrics.h"
#include "prof/base/choice.h"
#include "prof/base/message.h"
#include "prof/command_line/description.h"
#include "prof/export/export_format.h"
#include "prof/launch/events.h"
#include "prof/repair/repair_request.h"
#include "prof/results/databases.h"

namespace prof {
namespace {

enum class ListFormat : uint8_t { Text, Names, Json };
const std::map<std::string, ListFormat> kListFormats = {
    {"text", ListFormat::Text}, {"names", ListFormat::Names}, {"json", ListFormat::Json}};

constexpr size_t kWidestName = 44;

struct Listed {
  std::string name;
  std::string kind;  // "clock", "export", ...
  std::string text;
};

void print_rows(const std::string& what, const std::vector<Listed>& rows, ListFormat format) {
  std::string out;
  if (format == ListFormat::Json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Listed& row : rows)
      list.push_back({{"name", row.name}, {"kind", row.kind}, {"text", row.text}});
    const nlohmann::ordered_json json = {{"schema", "prof-list/1"}, {"list", what}, {"rows", list}};
    out = json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  } else if (format == ListFormat::Names) {
    for (const Listed& row : rows) out += printable(row.name) + "\n";
  } else {
    size_t name = 0;
    size_t kind = 0;
    for (const Listed& row : rows) {
      name = std::max(name, std::min(columns_of(row.name), kWidestName));
      kind = std::max(kind, columns_of(row.kind));
    }
    for (const Listed& row : rows)
      out +=
          fmt::format("{:<{}}  {:<{}}  {}\n", printable(row.name), name, row.kind, kind, printable(row.text));
  }
  std::fputs(out.c_str(), stdout);  // main() checks for errors
}

std::vector<Listed> events() {
  std::vector<Listed> rows;
  for (const EventDescription& event : list_events())
    rows.push_back({event.name, event.name.find("::") == event.name.npos ? "clock" : "counter", event.text});
  return rows;
}

std::vector<Listed> measurable_metrics() {
  std::vector<Listed> rows = {{"CPUTIME", "sec", "CPU time, user and system"},
                              {"REALTIME", "sec", "elapsed time, waiting included"}};
  for (const EventDescription& event : list_events())
    if (event.name.find("::") != event.name.npos) rows.push_back({event.name, "events", event.text});
  const auto add = [&rows](const auto& metrics) {
    for (const auto& metric : metrics) rows.push_back({metric.name, metric.unit, metric.description});
  };
  add(hpcrun::kLockMetrics);
  add(hpcrun::kWasteMetrics);
  add(hpcrun::kDeviceMetrics);
  return rows;
}

// Returns prof's words for the metric, or the description that was recorded with it.
std::string meaning(const Metric& metric) {
  const std::string words = format_metric(metric);
  return words == metric.name && !metric.description.empty() ? metric.description : words;
}

std::vector<Listed> metrics_of(const std::string& path) {
  std::vector<Listed> rows;
  for (const Metric& metric : open_database(path, ReadValues::WhenAskedFor).metrics)
    rows.push_back({metric.name, metric.unit.empty() ? "events" : metric.unit, meaning(metric)});
  return rows;
}

std::string purpose(const std::string& command, const std::string& format) {
  if (command == "export")
    for (const ExportFormatInfo& info : export_formats())
      if (info.name == format) return std::string("for ") + info.opened_with;
  return fmt::format("prof {} --format={}", command, format);
}

// Lists the formats that the other commands declare. A format that is added there appears here, too.
std::vector<Listed> formats(const CLI::App& root) {
  std::vector<Listed> rows;
  for (const char* name : {"report", "export", "import"}) {
    const auto named = [name](const CLI::App* command) { return command->get_name() == name; };
    for (const CLI::App* command : root.get_subcommands(named)) {
      const CLI::Option* option = command->get_option_no_throw("--format");
      if (!option) continue;
      for (const std::string& format : describe(*option).choices)
        if (can_export(format)) rows.push_back({format, name, purpose(name, format)});
    }
  }
  return rows;
}

CLI::App* add_list(CLI::App& list, const std::string& name, const std::string& text, int& status,
                   std::function<std::vector<Listed>()> rows) {
  auto format = std::make_shared<ListFormat>();
  CLI::App* command = list.add_subcommand(name, text);
  command->add_option("--format", *format, "Output format: text, names or json [text]")
      ->transform(choice(kListFormats))
      ->type_name("FORMAT");
  command->callback([name, format, &status, rows = std::move(rows)] {
    print_rows(name, rows(), *format);
    status = 0;
  });
  return command;
}

}  // namespace

void add_list_command(CLI::App& app, int& status) {
  CLI::App* list = app.add_subcommand("list", "List events, metrics, formats and repairs");
  list->require_subcommand(1);
  add_list(*list, "events", "List the events that this machine can sample", status, events);

  auto database = std::make_shared<std::string>();
  add_list(*list, "metrics", "List the metrics of a database or of this machine", status,
           [database] { return database->empty() ? measurable_metrics() : metrics_of(*database); })
      ->add_option("database", *database, "Database or measurement directory")
      ->type_name("DATABASE|DIR");

  add_list(*list, "formats", "List the formats of reports, exports and imports", status,
           [&app] { return formats(app); });

  add_list(*list, "repairs", "List the repairs for prof run --repair", status, [] {
    std::vector<Listed> rows;
    for (const RepairKindDescription& kind : list_repairs()) rows.push_back({kind.name, "repair", kind.text});
    return rows;
  });
}

}  // namespace prof
