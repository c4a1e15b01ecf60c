// The stalls of a run as text, JSON and CSV (docs/stalls.md).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/findings/finding_json.h"
#include "analysis/findings/stalls.h"
#include "analysis/views/run/stall_report.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/words/numbers.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNoteColumns = 10;
constexpr size_t kThreadColumns = 20;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) * 1e-9;
}

// Returns the stalls that cost enough to be listed, the most expensive first.
std::vector<const Stall*> listed(const StallReport& report, const ReportOptions& options) {
  std::vector<const Stall*> stalls;
  for (const Stall& stall : report.analysis.stalls)
    if (seconds(stall.lost_ns) * 100 >= seconds(report.analysis.lost_ns) * options.threshold_percent)
      stalls.push_back(&stall);
  std::ranges::stable_sort(stalls, std::greater(), &Stall::lost_ns);
  return stalls;
}

// Returns the time since the start of the traces.
double time_of(const StallReport& report, uint64_t ns) {
  return seconds(ns - report.analysis.begin_ns);
}

class StallsText {
 public:
  StallsText(const CallTree& tree, const StallReport& report, TextStyle style, Output& out)
      : tree_(tree), report_(report), style_(style), out_(out) {}

  void write(const std::vector<const Stall*>& stalls) {
    labelled("stalls", format_stalls(report_));
    labelled("traces", format_traces(report_));
    labelled("rule", format_stall_rule(report_.options));
    for (const std::string& note : report_.notes) labelled("note", note);
    const std::vector<Finding> findings = stall_findings(tree_, report_);
    if (!findings.empty()) out_.print("{}\n", bold(style_, "findings"));
    for (const Finding& finding : findings)
      out_.write(wrapped_behind("  * ", finding.sentence, style_));
    if (stalls.empty()) return;
    out_.print(
        "{}\n",
        bold(style_, "stalls, most expensive first: time, loss to the run, blocked thread and for how long"));
    for (const Stall* stall : stalls)
      for (const StalledThread& thread : stall->threads) row(*stall, thread);
    if (stalls.size() < report_.analysis.stalls.size())
      out_.print("  and {} below the threshold (--threshold)\n",
                 format_count(report_.analysis.stalls.size() - stalls.size(), "stall"));
  }

 private:
  void labelled(const char* label, const std::string& text) {
    out_.write(wrapped_behind(fmt::format("{:<{}}", label, kNoteColumns), text, style_));
  }

  void row(const Stall& stall, const StalledThread& thread) {
    const std::string who =
        shorten_end(printable(thread_label(*tree_.database, thread.profile)), kThreadColumns);
    const std::string lead =
        fmt::format("{:10.3f} s {:>9}  {:<{}} {:>9}  ", time_of(report_, thread.begin_ns),
                    &thread == &stall.threads.front() ? format_duration(seconds(stall.lost_ns)) : "", who,
                    kThreadColumns, format_duration(seconds(thread.end_ns - thread.begin_ns)));
    out_.write(row_ending_in(lead, format_call(frames_of(tree_, thread.context)), style_));
  }

  const CallTree& tree_;
  const StallReport& report_;
  const TextStyle style_;
  Output& out_;
};

Json thread_as_json(const CallTree& tree, const StallReport& report, const StalledThread& thread) {
  const ProfileId& id = tree.database->profiles[thread.profile].id;
  Json json{{"thread", id.thread}};
  if (id.rank >= 0) json["rank"] = id.rank;
  if (id.process >= 0) json["process"] = id.process;
  if (!id.thread_name.empty()) json["name"] = id.thread_name;
  json["begin_s"] = time_of(report, thread.begin_ns);
  json["end_s"] = time_of(report, thread.end_ns);
  json["lost_s"] = seconds(thread.lost_ns);
  if (thread.waited_for_device_ns + thread.woken_late_ns > 0) {
    json["waited_for_device_s"] = seconds(thread.waited_for_device_ns);
    json["woken_late_s"] = seconds(thread.woken_late_ns);
  }
  json["frames"] = frames_as_json(frames_of(tree, thread.context));
  return json;
}

}  // namespace

void stalls_as_text(const CallTree& tree, const StallReport& report, const ReportOptions& options,
                    TextStyle style, Output& out) {
  StallsText(tree, report, style, out).write(listed(report, options));
}

void stalls_as_json(const CallTree& tree, const StallReport& report, const ReportOptions& options,
                    Output& out) {
  const StallAnalysis& found = report.analysis;
  Json json{{"schema", "prof-report/1"}, {"view", "stalls"}, {"database", options.database}};
  json["units"] = {{kStallMetric, "sec"}};
  json["totals"] = {{kStallMetric, seconds(found.lost_ns)}};
  json["traces"] = {{"threads", found.traces},
                    {"bystanders", found.bystanders},
                    {"duration_s", seconds(found.duration_ns())},
                    {"long_intervals", found.long_intervals},
                    {"longest_s", seconds(found.longest_ns)},
                    {"unknown_s", seconds(found.unknown_ns)}};
  json["rule"] = {{"factor", report.options.factor}, {"share", report.options.share}};
  if (report.options.period_ns > 0) json["rule"]["period_s"] = seconds(report.options.period_ns);
  json["share_of_run"] = report.share_of_run(found.lost_ns);
  json["notes"] = report.notes;
  json["findings"] = findings_as_json(stall_findings(tree, report));
  json["threshold_percent"] = options.threshold_percent;
  json["stalls"] = Json::array();
  for (const Stall* stall : listed(report, options)) {
    Json threads = Json::array();
    for (const StalledThread& thread : stall->threads)
      threads.push_back(thread_as_json(tree, report, thread));
    json["stalls"].push_back({{"begin_s", time_of(report, stall->begin_ns)},
                              {"end_s", time_of(report, stall->end_ns)},
                              {"lost_s", seconds(stall->lost_ns)},
                              {"threads", std::move(threads)}});
  }
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void stalls_as_csv(const CallTree& tree, const StallReport& report, const ReportOptions& options,
                   Output& out) {
  out.write(
      "stall,begin (sec),end (sec),lost (sec),thread,thread begin (sec),thread end (sec),"
      "thread lost (sec),function,file,line,caller\n");
  size_t number = 0;
  for (const Stall* stall : listed(report, options)) {
    for (const StalledThread& thread : stall->threads) {
      const std::vector<CodeFrame> frames = frames_of(tree, thread.context);
      out.print("{},{:.6f},{:.6f},{:.6f},{},{:.6f},{:.6f},{:.6f},{},{}\n", number,
                time_of(report, stall->begin_ns), time_of(report, stall->end_ns), seconds(stall->lost_ns),
                csv_field(thread_label(*tree.database, thread.profile)), time_of(report, thread.begin_ns),
                time_of(report, thread.end_ns), seconds(thread.lost_ns), leaf_as_csv(frames),
                csv_field(frames.size() > 1 ? frames[1].function : ""));
    }
    ++number;
  }
}

}  // namespace prof
