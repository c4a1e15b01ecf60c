// The summary as JSON (docs/json.md): run.json of the database as it is, and the findings.

#include <nlohmann/json.hpp>

#include "prof/report/renderers.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

Json frame_as_json(const FindingFrame& frame) {
  Json json{{"function", frame.function}};
  if (!frame.file.empty()) json["file"] = frame.file;
  if (frame.line > 0) json["line"] = frame.line;
  if (!frame.module.empty()) json["module"] = frame.module;
  return json;
}

Json finding_as_json(const Finding& finding) {
  Json json{{"kind", finding.kind}, {"severity", severity_name(finding.severity)}};
  if (!finding.metric.empty()) json["metric"] = finding.metric;
  if (finding.cost) {
    json["cost"] = {{"value", finding.cost->value},
                    {"unit", finding.cost->unit},
                    {"share_of_run", finding.cost->share_of_run},
                    {"basis", finding.cost->basis}};
  }
  json["sentence"] = finding.sentence;
  for (const FindingContext& context : finding.contexts) {
    Json frames = Json::array();
    for (const FindingFrame& frame : context.frames) frames.push_back(frame_as_json(frame));
    json["contexts"].push_back({{"role", context.role}, {"frames", std::move(frames)}});
  }
  if (!finding.advice.empty()) json["advice"] = finding.advice;
  if (!finding.values.empty()) json["values"] = finding.values;
  return json;
}

// What run.json does not have is taken from the profiles, so that every database has the same keys.
Json run_as_json(const Json& recorded, const RunSummary& run) {
  Json json = recorded.is_object() ? recorded : Json::object();
  const auto fill = [&](const char* key, const Json& value) {
    if (!json.contains(key)) json[key] = value;
  };
  fill("command", run.command);
  fill("processes", run.processes);
  fill("threads", run.threads);
  fill("ranks", run.ranks);
  return json;
}

}  // namespace

void summary_as_json(const CallTree& tree, const SummaryReport& summary, const ReportOptions& options,
                     Output& out) {
  const Json parsed = Json::parse(tree.database->run_json, nullptr, false);
  const auto recorded = [&](const char* key) {
    return parsed.is_object() && parsed.contains(key) ? parsed[key] : Json();
  };
  Json json{{"schema", "prof-report/1"}, {"view", "summary"}, {"database", options.database}};
  json["units"] = Json::object();
  json["totals"] = Json::object();
  for (size_t m = 0; m < tree.metrics(); ++m) {
    json["units"][tree.metric(m).name] = tree.metric(m).unit;
    json["totals"][tree.metric(m).name] = tree.totals[m];
  }
  json["run"] = run_as_json(recorded("run"), summary.run);
  for (const char* key : {"sampling", "stacks", "overhead"})
    if (Json value = recorded(key); value.is_object()) json[key] = std::move(value);
  json["degradations"] = summary.run.degradations;
  json["findings"] = Json::array();
  for (const Finding& finding : summary.findings) json["findings"].push_back(finding_as_json(finding));
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

}  // namespace prof
