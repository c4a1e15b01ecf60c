#include "viewer/findings/locks_page.h"

#include <QStringList>

#include "analysis/findings/deadlocks.h"
#include "analysis/findings/idle_threads.h"
#include "analysis/findings/locks.h"
#include "analysis/views/run/format_locks.h"
#include "analysis/views/run/format_open_waits.h"
#include "analysis/views/run/idle_threads.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"
#include "viewer/findings/links.h"

namespace prof::viewer {

namespace {

constexpr const char* kOfReleases =
    "A release shows how long all threads together waited for it, so it may exceed a single wait.";

QString paragraph(const std::string& text) {
  return "<p>" + html(text) + "</p>";
}

Cell counted(uint64_t count, const std::string& noun) {
  const QString words = QString::fromStdString(format_count(count, noun));
  return {words, static_cast<double>(count), words};
}

}  // namespace

LocksPage::LocksPage(Document& document, QWidget* parent)
    : EvidencePage(document, {"lock, or what was waited for", "waited", "how often", "longest", "code"},
                   parent) {}

QString LocksPage::reason_empty() const {
  const auto reason = reason_no_locks(document().run());
  return reason ? QString::fromStdString(*reason) : QString();
}

void LocksPage::fill() {
  const RunSummary& run = document().run();
  QStringList said{html(format_waiting(run))};
  for (const Finding& finding : deadlock_findings(document().measured_tree(), run))
    said << "<b>" + html(finding.sentence) + "</b><br>Change: " + html(finding.advice);
  for (const Finding& finding : idle_findings(document().measured_tree(), run))
    said << html(finding.sentence);
  show_sentences(said.join("<br>"));
  rows_of_findings_.clear();
  for (const LockRecord& lock : run.locks.locks) add_lock(lock);
  add_open_waits();
  add_blocked();
  add_work();
}

void LocksPage::add_lock(const LockRecord& lock) {
  const CallTree& tree = document().measured_tree();
  const std::string what = format_lock(tree, lock);
  Evidence evidence{
      {},
      paragraph(format_waits(tree, lock)) + "<p><b>Change:</b> " + html(lock_advice(tree, lock)) + "</p>"};
  if (!lock.holders.empty()) evidence.frames = user_of_lock(tree, lock.holders.front().context);
  const std::string kind = lock.name.empty() ? what
                                             : what + " (" + std::string(name_of(lock.kind)) +
                                                   (lock.declared.empty() ? "" : ", " + lock.declared) + ")";
  QStandardItem* const item = rows().add(
      {kind, seconds_cell(lock.waited_s), counted(lock.waits, "wait"), seconds_cell(lock.longest_s), ""},
      std::move(evidence));
  rows_of_findings_.emplace_back(lock_id(tree, document().run(), lock), item);
  add_sides("waited", lock.waiters, item);
  add_sides("other threads waited until it was released", lock.holders, item);
  if (lock.open_s > 0)
    rows().add({"not released when the process ended", seconds_cell(lock.open_s)}, {}, item);
  if (const double unknown = unblamed_s(lock); unknown > 0)
    rows().add({"released by an unknown call", seconds_cell(unknown)}, {}, item);
  rows().expand(item->index());
}

void LocksPage::add_sides(const char* what, const std::vector<LockSide>& sides, QStandardItem* parent) {
  const bool are_waits = std::string_view(what) == "waited";
  for (const LockSide& side : sides) {
    const std::vector<CodeFrame> frames = user_of_lock(document().measured_tree(), side.context);
    Cell longest = seconds_cell(side.longest_s);
    if (!are_waits) longest.tip += ": the longest total wait for one release";
    rows().add({what, seconds_cell(side.seconds), counted(side.count, are_waits ? "wait" : "release"),
                longest, (side.open ? "not ended: " : "") + format_call(frames)},
               {frames, are_waits ? QString() : rows().details(parent->index()) + paragraph(kOfReleases)},
               parent);
  }
}

void LocksPage::add_open_waits() {
  const std::vector<OpenWaitRecord>& open = document().run().locks.open;
  if (open.empty()) return;
  QStandardItem* const heading = rows().add_heading("waiting for a lock when the process ended");
  for (const OpenWaitRecord& wait : open) {
    const std::vector<CodeFrame> frames = user_of_lock(document().measured_tree(), wait.context);
    const std::string words = format_open_wait(document().measured_tree(), wait);
    QStandardItem* const item = rows().add({wait.name.empty() ? std::string(name_of(wait.kind)) : wait.name,
                                            seconds_cell(wait.seconds), "", "", format_call(frames)},
                                           {frames, paragraph(words)}, heading);
    if (wait.deadlock != 0) rows_of_findings_.emplace_back(deadlock_id(wait.deadlock), item);
  }
}

void LocksPage::add_blocked() {
  const std::vector<BlockedRecord>& blocked = document().run().locks.blocked;
  if (blocked.empty()) return;
  QStandardItem* const heading = rows().add_heading("waited for other threads without a lock");
  for (const BlockedRecord& record : blocked) {
    const std::vector<CodeFrame> frames = user_of_lock(document().measured_tree(), record.context);
    rows().add(
        {std::string(name_of(record.kind)), seconds_cell(record.seconds), counted(record.count, "wait"),
         seconds_cell(record.longest_s), (record.open ? "not ended: " : "") + format_call(frames)},
        {frames, {}}, heading);
  }
}

void LocksPage::add_work() {
  const std::vector<WorkWhileIdle> all = work_while_idle(document().measured_tree(), document().run());
  if (all.empty()) return;
  QStandardItem* const heading = rows().add_heading("worked while other threads waited without a lock");
  for (const WorkWhileIdle& work : all) {
    const std::vector<CodeFrame> frames =
        program_part(frames_of(document().measured_tree(), work.context));
    QStandardItem* const item = rows().add(
        {format_idle(work), seconds_cell(work.seconds), "", "", format_code(frames)}, {frames, {}}, heading);
    rows_of_findings_.emplace_back(idle_id(document().measured_tree(), work), item);
  }
}

QModelIndex LocksPage::row_of_finding(const QString& id) const {
  for (const auto& [of, item] : rows_of_findings_)
    if (of == id.toStdString()) return item->index();
  return {};
}

}  // namespace prof::viewer
