// Device activity, and which side waits for the other: the views "devices" and "idleness".

#include <nlohmann/json.hpp>

#include "analysis/findings/device_idleness.h"
#include "analysis/findings/finding_json.h"
#include "analysis/views/run/format_devices.h"
#include "analysis/views/run/idleness.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/words/numbers.h"
#include "analysis/words/short_names.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRowsShown = 10;
constexpr size_t kNameColumns = 48;
constexpr double kWorthTelling = 0.05;  // of the idleness

double part(double value, double whole) {
  return whole > 0 ? value / whole : 0;
}

std::string rounded_percent(double value, double whole) {
  return fmt::format("{:5.1f} %", 100 * part(value, whole));
}

std::string seconds(double value) {
  return fmt::format("{:9.3f} s", value);
}

Json device_as_json(const Database& database, const DeviceUse& use) {
  Json json;
  for_each_field(use, [&](const char* name, const auto& value) {
    json[std::string_view(name) == "cpu_waits_s" ? "cpu_idle_s" : name] = value;
  });
  json["idle_s"] = use.idle_s();
  json["queues"] = Json::array();
  for (const DeviceUse::Queue& queue : use.queues) {
    const QueueCosts costs = queue_costs(database, queue.profile);
    json["queues"].push_back({{"name", queue.name},
                              {"thread", thread_label(database, queue.profile)},
                              {"tasks", costs.tasks},
                              {"execution_s", costs.execution_s},
                              {"copy_s", costs.copy_s},
                              {"overlap_s", costs.overlap_s},
                              {"to_device_bytes", costs.to_device_bytes},
                              {"from_device_bytes", costs.from_device_bytes}});
  }
  return json;
}

Json start(const char* view, const ReportOptions& options) {
  return {{"schema", "prof-report/1"}, {"view", view}, {"database", options.database}};
}

void write(const Json& json, Output& out) {
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void add_devices(const Database& database, const RunSummary& run, Json& json) {
  json["devices"] = Json::array();
  for (const DeviceUse& use : run.devices) json["devices"].push_back(device_as_json(database, use));
}

const char* cause_or_launch(const Blamed& blamed) {
  return blamed.is_task ? "launch" : "cause";
}

Json blamed_as_json(const Blamed& blamed, const char* role) {
  return {{"function", blamed.what},
          {"value_s", blamed.value_s},
          {"share_of_idleness", blamed.share},
          {"share_of_run", blamed.share_of_run},
          {"share_of_run_by_overlap", blamed.share_by_overlap},
          {"context", {{"role", role}, {"frames", frames_as_json(blamed.frames)}}}};
}

void devices_as_text(const Database& database, const RunSummary& run, TextStyle style, Output& out) {
  bool first = true;
  for (const DeviceUse& use : run.devices) {
    if (!std::exchange(first, false)) out.write("\n");
    out.print("{}\n", bold(style, printable(format_device(run, use))));
    const int width = use.under_way_s > 0 ? 9 : 8;  // of the longest name
    out.print("  {:<{}} {}\n", "in use", width, seconds(use.window_s));
    for (const DeviceTime& row : device_times(use)) {
      const std::string line = fmt::format("  {:<{}} {}  {}  {}", row.name, width, seconds(row.seconds),
                                           rounded_percent(row.seconds, use.window_s), row.meaning);
      out.print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
    if (use.paused_s > 0) out.print("  measuring was paused for another {}\n", format_duration(use.paused_s));
    if (use.incomplete > 0)
      out.print("  {} left incomplete; the times exclude {}\n",
                format_count(use.incomplete, "task") + (use.incomplete == 1 ? " was" : " were"),
                use.incomplete == 1 ? "it" : "them");
    if (use.queues.empty()) continue;
    out.print("  {:<24} {:>10} {:>11} {:>11} {:>12} {:>12}\n", "queue", "tasks", "executed", "copies",
              "to device", "from device");
    for (const DeviceUse::Queue& queue : use.queues) {
      const QueueCosts costs = queue_costs(database, queue.profile);
      const std::string name = queue.name.empty() ? "(no name)" : printable(queue.name);
      out.print("  {:<24} {:>10} {} {} {:>12} {:>12}\n", shorten_middle(name, 24), costs.tasks,
                seconds(costs.execution_s), seconds(costs.copy_s), format_bytes(costs.to_device_bytes),
                format_bytes(costs.from_device_bytes));
    }
  }
}

std::string where(const Blamed& blamed) {
  std::string text = shorten_name(printable(blamed.what), kNameColumns);
  if (!blamed.caller.empty())
    text += fmt::format(" <- {}", shorten_name(printable(blamed.caller), kNameColumns));
  if (!blamed.location.empty()) text += fmt::format(" ({})", printable(blamed.location));
  return text;
}

void heading(const char* text, const TextStyle& style, Output& out) {
  out.print("\n{}\n", bold(style, text));
}

void count_more(size_t all, Output& out) {
  if (all > kRowsShown) out.print("  and {} more: --format=json\n", all - kRowsShown);
}

void blame_as_text(const char* text, const std::vector<Blamed>& all, const TextStyle& style, Output& out,
                   const char* whole = "of idleness") {
  if (all.empty()) return;
  heading(text, style, out);
  out.print("  {:>11}  {:>11}  {:>14}\n", whole, "time", "of run at most");
  for (size_t i = 0; i < std::min(all.size(), kRowsShown); ++i)
    out.print("  {}  {}  {:>14}  {}\n",
              heat(style, all[i].share, fmt::format("{:>11}", rounded_percent(all[i].share, 1))),
              seconds(all[i].value_s), rounded_percent(all[i].share_of_run, 1), where(all[i]));
  count_more(all.size(), out);
}

void waits_as_text(const Idleness& found, const TextStyle& style, Output& out) {
  if (found.waits.empty()) return;
  heading("where threads wait for a device, and the parts not covered by tasks", style, out);
  out.print("  {:>11}  {:>11}  {:>11}  {:>11}\n", "time", "launch", "gaps", "wake-up");
  for (size_t i = 0; i < std::min(found.waits.size(), kRowsShown); ++i) {
    const Waiting& waiting = found.waits[i];
    out.print("  {}  {}  {}  {}  {}\n", seconds(waiting.at.value_s), seconds(waiting.launch_latency_s),
              seconds(waiting.gap_s), seconds(waiting.wake_latency_s), where(waiting.at));
  }
  count_more(found.waits.size(), out);
}

void ranks_as_text(const Idleness& found, const TextStyle& style, Output& out) {
  if (found.tasks.empty()) return;
  heading("kernels and copies, by the time threads waited for them", style, out);
  out.print("  {:>8}  {:>11}  {:>8}  {:>11}\n", "by blame", "blame", "by time", "time");
  for (size_t i = 0; i < std::min(found.tasks.size(), kRowsShown); ++i) {
    const RankedTask& task = found.tasks[i];
    out.print("  {:>8}  {}  {:>8}  {}  {}\n", task.blame_rank, seconds(task.blame_s), task.time_rank,
              seconds(task.time_s), shorten_name(printable(task.name), kNameColumns));
  }
  count_more(found.tasks.size(), out);
}

void idleness_as_text(const RunSummary& run, const Idleness& found, TextStyle style, Output& out) {
  for (const DeviceUse& use : run.devices) {
    out.print("{}\n", bold(style, printable(format_device(run, use))));
    out.print("  {}\n", format_device_shares(use));
    if (use.paused_s > 0)
      out.print("  measuring was paused for another {}, which is not counted\n",
                format_duration(use.paused_s));
    if (const size_t processes = processes_that_share(run, use); processes > 1)
      out.print("  {} processes of this run share it: each is blamed for the time in which none used it\n",
                processes);
  }
  const std::vector<Finding> findings = device_idleness_findings(found);
  if (!findings.empty()) out.write("\n");
  for (const Finding& finding : findings) {
    const auto lines = wrap(printable(finding.sentence), style.columns == 0 ? 0 : style.columns - 4);
    for (size_t i = 0; i < lines.size(); ++i) out.print("{}{}\n", i == 0 ? "  * " : "    ", lines[i]);
  }
  blame_as_text("what keeps devices idle", found.device, style, out);
  double idle_s = 0;
  for (const DeviceUse& use : run.devices) idle_s += use.idle_s();
  if (part(found.unblamed_s, idle_s) >= kWorthTelling)
    out.print("  {}  {}  {:>14}  while threads slept or waited for something else\n",
              fmt::format("{:>11}", rounded_percent(found.unblamed_s, idle_s)), seconds(found.unblamed_s),
              "");
  if (part(found.team_waits_s, idle_s) >= kWorthTelling)
    out.print("  {:>11}  {}  {:>14}  not blamed: threads waited for other threads in OpenMP or OpenBLAS\n",
              "", seconds(found.team_waits_s), "");
  if (part(found.rank_waits_s, idle_s) >= kWorthTelling)
    out.print("  {:>11}  {}  {:>14}  not blamed: ranks waited for other ranks in MPI; see --view=ranks\n", "",
              seconds(found.rank_waits_s), "");
  blame_as_text("what keeps threads waiting", found.cpu, style, out);
  blame_as_text("what keeps commands of other queues waiting for its event", found.event_causes, style, out,
                "of waits");
  blame_as_text("commands that wait for an event of another queue", found.event_waits, style, out,
                "of waits");
  waits_as_text(found, style, out);
  ranks_as_text(found, style, out);
  out.print("\n{}\n", kBlameCaveat);
}

}  // namespace

void write_devices(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out) {
  const Database& database = *tree.database;
  const RunSummary run = run_summary(database);
  if (options.format == ReportFormat::Json) {
    Json json = start("devices", options);
    add_devices(database, run, json);
    return write(json, out);
  }
  if (options.format == ReportFormat::Csv) {
    out.write(
        "host,rank,process,device,name,api,window (sec),busy (sec),kernels (sec),copies (sec),idle (sec),"
        "cpu idle (sec),overlap (sec),tasks,incomplete\n");
    for (const DeviceUse& use : run.devices)
      out.print("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(use.host), use.rank, use.process,
                use.device, csv_field(use.name), csv_field(use.api), use.window_s, use.busy_s, use.kernels_s,
                use.copies_s, use.idle_s(), use.cpu_waits_s, use.overlap_s, use.tasks, use.incomplete);
    return;
  }
  if (run.devices.empty()) return out.print("{}\n", kNoDevices);
  devices_as_text(database, run, style, out);
}

void write_idleness(const CallTree& tree, const ReportOptions& options, TextStyle style, Output& out) {
  const Database& database = *tree.database;
  const RunSummary run = run_summary(database);
  const Idleness found = idleness(database, tree.selection, run);
  if (options.format == ReportFormat::Json) {
    Json json = start("idleness", options);
    add_devices(database, run, json);
    json["device_idle"] = Json::array();
    for (const Blamed& blamed : found.device) json["device_idle"].push_back(blamed_as_json(blamed, cause_or_launch(blamed)));
    json["cpu_idle"] = Json::array();
    for (const Blamed& blamed : found.cpu) json["cpu_idle"].push_back(blamed_as_json(blamed, cause_or_launch(blamed)));
    json["unblamed_s"] = found.unblamed_s;
    json["team_waits_s"] = found.team_waits_s;
    json["rank_waits_s"] = found.rank_waits_s;
    json["event_causes"] = Json::array();
    for (const Blamed& blamed : found.event_causes) json["event_causes"].push_back(blamed_as_json(blamed, cause_or_launch(blamed)));
    json["event_waits"] = Json::array();
    for (const Blamed& blamed : found.event_waits) json["event_waits"].push_back(blamed_as_json(blamed, cause_or_launch(blamed)));
    json["waits"] = Json::array();
    for (const Waiting& waiting : found.waits) {
      Json one = blamed_as_json(waiting.at, "wait");
      one["launch_latency_s"] = waiting.launch_latency_s;
      one["gap_s"] = waiting.gap_s;
      one["wake_latency_s"] = waiting.wake_latency_s;
      json["waits"].push_back(std::move(one));
    }
    json["tasks"] = Json::array();
    for (const RankedTask& task : found.tasks)
      json["tasks"].push_back({{"name", task.name},
                               {"time_s", task.time_s},
                               {"blame_s", task.blame_s},
                               {"rank_by_time", task.time_rank},
                               {"rank_by_blame", task.blame_rank}});
    json["findings"] = findings_as_json(device_idleness_findings(found));
    return write(json, out);
  }
  if (options.format == ReportFormat::Csv) {
    out.write("idle,function,caller,place,value (sec),share of idleness,share of run at most\n");
    const auto rows = [&](const char* kind, const std::vector<Blamed>& all) {
      for (const Blamed& blamed : all)
        out.print("{},{},{},{},{},{},{}\n", kind, csv_field(blamed.what), csv_field(blamed.caller),
                  csv_field(blamed.location), blamed.value_s, blamed.share, blamed.share_of_run);
    };
    rows("device", found.device);
    rows("cpu", found.cpu);
    return;
  }
  if (run.devices.empty()) return out.print("{}\n", kNoDevices);
  idleness_as_text(run, found, style, out);
}

}  // namespace prof
