// The summary as JSON (docs/json.md): the contents of the database's run.json, and the findings.

#include <nlohmann/json.hpp>

#include "analysis/findings/finding_json.h"
#include "analysis/views/run/format_repairs.h"
#include "prof/report/renderers.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

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
  set(json, "program_s", run.program_s);
  set(json, "run_queue_s", run.run_queue_s);
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

// Adds what a run recorded. If a database has no record, only data of its profiles is available.
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
  set(overhead, "start_s", run.overhead_start_s);
  set(overhead, "hooks_s", run.overhead_hooks_s);
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
  if (summary.run.repairs.was_asked_for()) json["repairs"] = repairs_as_json(tree, summary.run.repairs);
  json["modules"] = Json::array();
  for (const LoadModule& module : tree.database->modules)
    json["modules"].push_back({{"path", module.path}, {"build_id", module.build_id}});
  json["degradations"] = sentences(summary.run.notes);
  json["findings"] = findings_as_json(summary.findings);
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

}  // namespace prof
