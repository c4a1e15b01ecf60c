// The summary as JSON (docs/json.md): what run.json of the database says, and the findings.

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

template <class Value>
void set(Json& json, const char* key, const std::optional<Value>& value) {
  if (value) json[key] = *value;
}

void set(Json& json, const char* key, const std::string& text) {
  if (!text.empty()) json[key] = text;
}

Json run_as_json(const RunSummary& run) {
  Json json{{"command", run.command}};
  set(json, "host", run.host);
  set(json, "start", run.start);
  set(json, "wall_s", run.wall_s);
  set(json, "cpu_s", run.cpu_s);
  set(json, "exit_status", run.exit_status);
  set(json, "signal", run.signal);
  json["processes"] = run.processes;
  json["threads"] = run.threads;
  json["ranks"] = run.ranks;
  return json;
}

Json sampling_as_json(const Sampling& sampling) {
  Json json = Json::object();
  set(json, "source", sampling.source);
  set(json, "requested_hz", sampling.requested_hz);
  set(json, "delivered_hz", sampling.delivered_hz);
  set(json, "samples", sampling.samples);
  return json;
}

// What a run recorded. A database without a record has of it only what its profiles tell.
void add_measuring(const RunSummary& run, Json& json) {
  if (run.sampling_recorded) {
    json["sampling"] = sampling_as_json(run.sampling);
    json["sampling"]["dropped"] = run.dropped;
    set(json["sampling"], "paused_s", run.paused_s);
    for (const auto& [name, sampling] : run.by_metric)
      json["sampling"]["metrics"][name] = sampling_as_json(sampling);
  }
  if (run.stacks) {
    json["stacks"] = {{"complete", run.stacks->complete},
                      {"partial", run.stacks->partial},
                      {"broken", run.stacks->broken},
                      {"reasons", run.stacks->reasons}};
  }
  Json overhead = Json::object();
  set(overhead, "cpu_s_estimate", run.overhead_cpu_s);
  set(overhead, "runtime_bytes", run.runtime_bytes);
  if (!overhead.empty()) json["overhead"] = std::move(overhead);
}

}  // namespace

void summary_as_json(const CallTree& tree, const SummaryReport& summary, const ReportOptions& options,
                     Output& out) {
  Json json{{"schema", "prof-report/1"}, {"view", "summary"}, {"database", options.database}};
  json["units"] = Json::object();
  json["totals"] = Json::object();
  for (size_t m = 0; m < tree.metrics(); ++m) {
    json["units"][tree.metric(m).name] = tree.metric(m).unit;
    json["totals"][tree.metric(m).name] = tree.totals[m];
  }
  json["run"] = run_as_json(summary.run);
  add_measuring(summary.run, json);
  json["degradations"] = summary.run.degradations;
  json["findings"] = Json::array();
  for (const Finding& finding : summary.findings) json["findings"].push_back(finding_as_json(finding));
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

}  // namespace prof
