// Waiting for locks and for other threads as text, JSON and CSV (docs/locks.md).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/views/finding_json.h"
#include "analysis/views/lock_findings.h"
#include "analysis/views/stall_findings.h"
#include "analysis/views/wording.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostLocks = 16;
constexpr size_t kMostSides = 6;
constexpr size_t kMostBlocked = 12;

class LocksText {
 public:
  LocksText(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out)
      : tree_(tree), run_(run), style_(style), out_(out) {}

  void write() {
    const LockWaiting all = lock_waiting(run_);
    if (run_.locks.locks.empty())
      out_.print("no thread waited for a lock\n");
    else
      out_.write(wrapped_behind(
          "",
          fmt::format("Threads waited {} for locks, {} of the time in which they worked or waited for locks.",
                      words_for_duration(all.seconds), words_for_percent(all.share)),
          style_));
    const std::vector<LockRecord>& locks = run_.locks.locks;
    for (size_t i = 0; i < std::min(locks.size(), kMostLocks); ++i) write(locks[i], i + 1);
    if (locks.size() > kMostLocks)
      out_.print("\nand {}\n", words_for_count(locks.size() - kMostLocks, "more lock"));
    write_blocked();
  }

 private:
  void write(const LockRecord& lock, size_t number) {
    out_.write("\n");
    std::string what = lock_in_words(lock);
    if (!lock.name.empty())
      what += lock.declared.empty() ? fmt::format(" ({})", lock.kind)
                                    : fmt::format(" ({}, {})", lock.kind, lock.declared);
    const std::string waited =
        fmt::format("{}: waited for {} in {}, the longest {}", what, words_for_duration(lock.waited_s),
                    words_for_count(lock.waits, "wait"), words_for_duration(lock.longest_s));
    out_.write(wrapped_behind(fmt::format("{:>2}. ", number), waited, style_));
    out_.write(wrapped_behind("    Change: ", lock_advice(tree_, lock), style_));
    sides("waited", "waits", lock.waiters);
    sides("others waited until it was released", "releases", lock.holders);
    const double unknown = lock.waited_s - lock.blamed_s;
    if (unknown > 0.01 * lock.waited_s)
      out_.print("      {:>10}  released where prof does not look\n", words_for_duration(unknown));
  }

  void sides(const char* title, const char* what, const std::vector<LockSide>& sides) {
    if (sides.empty()) return;
    out_.print("    {}\n", bold(style_, title));
    for (size_t i = 0; i < std::min(sides.size(), kMostSides); ++i)
      row(words_for_duration(sides[i].seconds), fmt::format("{} {}", sides[i].count, what),
          sides[i].longest_s, sides[i].context);
    if (sides.size() > kMostSides)
      out_.print("      and {}\n", words_for_count(sides.size() - kMostSides, "more place"));
  }

  void row(const std::string& duration, const std::string& count, double longest, uint32_t context) {
    const std::string line =
        fmt::format("      {:>10}  {:<16} longest {:<9} {}", duration, count, words_for_duration(longest),
                    printable(words_for_call(user_of_lock(tree_, context))));
    out_.print("{}\n", shorten_end(line, style_.columns));
  }

  void write_blocked() {
    const std::vector<BlockedRecord>& blocked = run_.locks.blocked;
    if (blocked.empty()) return;
    out_.print("\n{}\n", bold(style_, "waited for other threads without a lock"));
    for (size_t i = 0; i < std::min(blocked.size(), kMostBlocked); ++i)
      row(words_for_duration(blocked[i].seconds), blocked[i].kind, blocked[i].longest_s, blocked[i].context);
    if (blocked.size() > kMostBlocked)
      out_.print("      and {}\n", words_for_count(blocked.size() - kMostBlocked, "more place"));
  }

  const CallTree& tree_;
  const RunSummary& run_;
  const TextStyle style_;
  Output& out_;
};

template <typename Record>
Json fields_of(const Record& record) {
  Json json = Json::object();
  for_each_lock_field(record, [&](const char* name, const auto& value) {
    if (std::string_view(name) != "context") json[name] = value;
  });
  return json;
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
  json["units"] = {{"LOCK_WAIT", "sec"}, {"LOCK_BLAME", "sec"}, {"BLOCKED", "sec"}};
  json["waited_s"] = all.seconds;
  json["share_of_run"] = all.share;
  json["findings"] = findings_as_json(lock_findings(tree, run));
  json["locks"] = Json::array();
  for (const LockRecord& record : run.locks.locks) {
    Json lock = fields_of(record);
    lock["advice"] = lock_advice(tree, record);
    lock["waiters"] = sides_as_json(tree, record.waiters);
    lock["holders"] = sides_as_json(tree, record.holders);
    json["locks"].push_back(std::move(lock));
  }
  json["blocked"] = Json::array();
  for (const BlockedRecord& record : run.locks.blocked) json["blocked"].push_back(with_frames(tree, record));
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void locks_as_csv(const CallTree& tree, const RunSummary& run, Output& out) {
  out.write("lock,kind,role,seconds,count,longest (sec),threads,function,file,line\n");
  for (const LockRecord& record : run.locks.locks) {
    const std::string lead = csv_field(lock_in_words(record)) + "," + record.kind;
    for (const LockSide& side : record.waiters) csv_row(tree, lead, "waits", side, out);
    for (const LockSide& side : record.holders) csv_row(tree, lead, "releases", side, out);
  }
  for (const BlockedRecord& record : run.locks.blocked)
    csv_row(tree, "," + record.kind, "blocked", record, out);
}

}  // namespace prof
