// Waiting for locks and for other threads as text, JSON and CSV (docs/locks.md).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/findings/deadlocks.h"
#include "analysis/findings/finding_json.h"
#include "analysis/findings/idle_threads.h"
#include "analysis/findings/locks.h"
#include "analysis/findings/order.h"
#include "analysis/views/run/format_locks.h"
#include "analysis/views/run/format_open_waits.h"
#include "analysis/views/run/idle_threads.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxLocks = 16;
constexpr size_t kMaxSides = 6;
constexpr size_t kMaxBlocked = 12;
constexpr size_t kMaxOpen = 12;
constexpr size_t kMaxWork = 6;

class LocksText {
 public:
  LocksText(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out)
      : tree_(tree), run_(run), style_(style), out_(out) {}

  void write() {
    write_open();
    out_.write(wrapped_behind("", format_waiting(run_), style_));
    const std::vector<LockRecord>& locks = run_.locks.locks;
    for (size_t i = 0; i < std::min(locks.size(), kMaxLocks); ++i) write(locks[i], i + 1);
    if (locks.size() > kMaxLocks)
      out_.print("\nand {}\n", format_count(locks.size() - kMaxLocks, "more lock"));
    write_blocked();
    write_work();
    if (const std::optional<std::string> missing = locks_not_followed(tree_, run_))
      out_.write("\n" + wrapped_behind("note  ", *missing, style_));
  }

 private:
  void write(const LockRecord& lock, size_t number) {
    out_.write("\n");
    out_.write(wrapped_behind(fmt::format("{:>2}. ", number), format_waits(tree_, lock), style_));
    out_.write(wrapped_behind("    Change: ", lock_advice(tree_, lock), style_));
    sides("waited", "waits", lock.waiters);
    sides("other threads waited until it was released", "releases", lock.holders);
    if (lock.open_s > 0)
      out_.print("      {:>10}  not released when the process ended\n", format_duration(lock.open_s));
    if (const double unknown = unblamed_s(lock); unknown > 0)
      out_.print("      {:>10}  released by an unknown call\n", format_duration(unknown));
  }

  void sides(const char* title, const char* what, const std::vector<LockSide>& sides) {
    if (sides.empty()) return;
    out_.print("    {}\n", bold(style_, title));
    for (size_t i = 0; i < std::min(sides.size(), kMaxSides); ++i)
      row(format_duration(sides[i].seconds), fmt::format("{} {}", sides[i].count, what), sides[i]);
    if (sides.size() > kMaxSides)
      out_.print("      and {}\n", format_count(sides.size() - kMaxSides, "more place"));
  }

  void row(const std::string& duration, const std::string& count, const auto& side) {
    const std::string lead =
        fmt::format("      {:>10}  {:<16} longest {:<9} ", duration, count, format_duration(side.longest_s));
    const std::string call = format_call(user_of_lock(tree_, side.context));
    out_.write(row_ending_in(lead, side.open ? "not ended: " + call : call, style_));
  }

  // Deadlocks first, in the order of the findings.
  void write_open() {
    const std::vector<OpenWaitRecord>& open = run_.locks.open;
    if (open.empty()) return;
    for (const Finding& finding : deadlock_findings(tree_, run_)) {
      out_.write(wrapped_behind("", finding.sentence, style_));
      out_.write(wrapped_behind("    Change: ", finding.advice, style_));
      out_.write("\n");
    }
    const auto is_free = [](const OpenWaitRecord& wait) { return wait.deadlock == 0; };
    const auto others = std::ranges::count_if(open, is_free);
    if (others == 0) return;
    out_.print("{}\n", bold(style_, "waiting for a lock when the process ended"));
    size_t shown = 0;
    for (const OpenWaitRecord& wait : open)
      if (is_free(wait) && shown++ < kMaxOpen)
        out_.write(wrapped_behind("      ", format_open_wait(tree_, wait), style_));
    if (shown > kMaxOpen) out_.print("      and {}\n", format_count(shown - kMaxOpen, "more thread"));
    out_.write("\n");
  }

  void write_blocked() {
    const std::vector<BlockedRecord>& blocked = run_.locks.blocked;
    if (blocked.empty()) return;
    out_.print("\n{}\n", bold(style_, "waited for other threads without a lock"));
    for (size_t i = 0; i < std::min(blocked.size(), kMaxBlocked); ++i)
      row(format_duration(blocked[i].seconds), std::string(name_of(blocked[i].kind)), blocked[i]);
    if (blocked.size() > kMaxBlocked)
      out_.print("      and {}\n", format_count(blocked.size() - kMaxBlocked, "more place"));
  }

  void write_work() {
    const std::vector<WorkWhileIdle> work = work_while_idle(tree_, run_);
    if (work.empty()) return;
    out_.print("\n{}\n", bold(style_, "worked while other threads waited without a lock"));
    for (size_t i = 0; i < std::min(work.size(), kMaxWork); ++i) {
      const std::string lead =
          fmt::format("      {:>10}  {:<26} ", format_duration(work[i].seconds), format_idle(work[i]));
      out_.write(row_ending_in(lead, format_code(program_part(frames_of(tree_, work[i].context))), style_));
    }
    if (work.size() > kMaxWork)
      out_.print("      and {}\n", format_count(work.size() - kMaxWork, "more function"));
  }

  const CallTree& tree_;
  const RunSummary& run_;
  const TextStyle style_;
  Output& out_;
};

template <typename Record>
Json fields_of(const Record& record) {
  return fields_as_json<Json>(record, {"context"});
}

template <typename Record>
Json with_frames(const CallTree& tree, const Record& record) {
  Json json = fields_of(record);
  json["frames"] = frames_as_json(frames_of(tree, record.context));
  return json;
}

Json sides_as_json(const CallTree& tree, const std::vector<LockSide>& sides) {
  Json json = Json::array();
  for (const LockSide& side : sides) json.push_back(with_frames(tree, side));
  return json;
}

template <typename Record>
void csv_row(const CallTree& tree, const std::string& lead, const char* role, const Record& record,
             Output& out) {
  out.print("{},{},{:.6f},{},{:.6f},{},{}\n", lead, role, record.seconds, record.count, record.longest_s,
            record.threads, leaf_as_csv(user_of_lock(tree, record.context)));
}

}  // namespace

void locks_as_text(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out) {
  LocksText(tree, run, style, out).write();
}

void locks_as_json(const CallTree& tree, const RunSummary& run, const ReportOptions& options, Output& out) {
  const LockWaiting all = lock_waiting(run);
  Json json{{"schema", "prof-report/1"}, {"view", "locks"}, {"database", options.database}};
  json["units"] = {{"LOCK_WAIT", "sec"}, {"LOCK_BLAME", "sec"}, {"BLOCKED", "sec"}, {"IDLE_BLAME", "sec"}};
  json["waited_s"] = all.seconds;
  json["share_of_run"] = all.share;
  std::vector<Finding> findings = lock_findings(tree, run);
  add_findings(findings, deadlock_findings(tree, run));
  add_findings(findings, idle_findings(tree, run));
  json["findings"] = findings_as_json(findings);
  json["locks"] = Json::array();
  for (const LockRecord& record : run.locks.locks) {
    Json lock = fields_of(record);
    lock.erase("allocation");
    if (record.allocation != 0) lock["allocation"] = frames_as_json(frames_of(tree, record.allocation));
    lock["advice"] = lock_advice(tree, record);
    lock["waiters"] = sides_as_json(tree, record.waiters);
    lock["holders"] = sides_as_json(tree, record.holders);
    json["locks"].push_back(std::move(lock));
  }
  json["blocked"] = Json::array();
  for (const BlockedRecord& record : run.locks.blocked) json["blocked"].push_back(with_frames(tree, record));
  json["idle"] = Json::array();
  for (const IdleRecord& record : run.locks.idle) json["idle"].push_back(with_frames(tree, record));
  json["open"] = Json::array();
  for (const OpenWaitRecord& record : run.locks.open) json["open"].push_back(with_frames(tree, record));
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void locks_as_csv(const CallTree& tree, const RunSummary& run, Output& out) {
  out.write("lock,kind,role,seconds,count,longest (sec),threads,function,file,line\n");
  for (const LockRecord& record : run.locks.locks) {
    const std::string lead = fmt::format("{},{}", csv_field(format_lock(tree, record)), name_of(record.kind));
    for (const LockSide& side : record.waiters) csv_row(tree, lead, "waits", side, out);
    for (const LockSide& side : record.holders) csv_row(tree, lead, "releases", side, out);
  }
  for (const BlockedRecord& record : run.locks.blocked)
    csv_row(tree, fmt::format(",{}", name_of(record.kind)), "blocked", record, out);
  for (const WorkWhileIdle& work : work_while_idle(tree, run))
    out.print(",,works,{:.6f},,,,{}\n", work.seconds,
              leaf_as_csv(program_part(frames_of(tree, work.context))));
  for (const OpenWaitRecord& wait : run.locks.open)
    out.print("{},{},waits still,{:.6f},,,1,{}\n", csv_field(wait.name), name_of(wait.kind), wait.seconds,
              leaf_as_csv(user_of_lock(tree, wait.context)));
}

}  // namespace prof
