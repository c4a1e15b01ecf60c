#include "viewer/findings/stalls_page.h"

#include <QStringList>
#include <algorithm>

#include "analysis/findings/stalls.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/words/numbers.h"
#include "viewer/findings/links.h"

namespace prof::viewer {

namespace {

constexpr double kSecondsPerNs = 1e-9;

double seconds(uint64_t ns) {
  return static_cast<double>(ns) * kSecondsPerNs;
}

// Relative to the start of the traces, as in the report.
Cell time_cell(const StallReport& report, uint64_t ns) {
  const double since = seconds(ns - report.analysis.begin_ns);
  return {QString::number(since, 'f', 3) + " s", since,
          QString::number(since, 'f', 9) + " s since the start of the traces"};
}

// Returns the moment of a thread that was blocked in all of that time.
std::function<std::optional<Moment>()> moment_of(TimeRange range, uint32_t profile) {
  return [=] { return Moment{range, profile, range.begin_ns + range.ns() / 2}; };
}

}  // namespace

StallsPage::StallsPage(Document& document, QWidget* parent)
    : EvidencePage(document, {"when", "lost to the run", "thread", "blocked for", "code"}, parent) {}

void StallsPage::showEvent(QShowEvent* event) {
  if (!search_) {
    search_ = &FindingSearch::of(document());
    connect(search_, &FindingSearch::changed, this, &StallsPage::renew);
  }
  EvidencePage::showEvent(event);
}

QString StallsPage::reason_empty() const {
  return search_ ? QString::fromStdString(search_->reason_no_stalls()) : QString();
}

bool StallsPage::is_complete() const {
  return !search_ || search_->is_complete();
}

void StallsPage::fill() {
  if (!search_->stalls()) return show_sentences("Reading the traces ...");
  const StallReport& report = *search_->stalls();
  QStringList said{html(format_stalls(report)), html(format_traces(report)),
                   html(format_stall_rule(report.options))};
  for (const std::string& note : report.notes) said << html(note);
  findings_ = stall_findings(document().measured_tree(), report);
  for (const Finding& finding : findings_)
    said << "<b>" + html(finding.sentence) + "</b><br>Change: " + html(finding.advice);
  show_sentences(said.join("<br>"));

  const std::optional<TimeRange>& time = document().chosen_time();
  std::vector<const Stall*> stalls;
  for (const Stall& stall : report.analysis.stalls)
    if (!time || (stall.begin_ns < time->end_ns && stall.end_ns > time->begin_ns)) stalls.push_back(&stall);
  std::ranges::stable_sort(stalls, std::greater(), &Stall::lost_ns);
  for (const Stall* const stall : stalls) {
    QStandardItem* item = nullptr;
    for (const StalledThread& thread : stall->threads) {
      const std::vector<CodeFrame> frames = frames_of(document().measured_tree(), thread.context);
      const uint64_t lost_ns = item ? thread.lost_ns : stall->lost_ns;
      QStandardItem* const row =
          rows().add({time_cell(report, thread.begin_ns), seconds_cell(seconds(lost_ns)),
                      thread_label(document().database(), thread.profile),
                      seconds_cell(seconds(thread.end_ns - thread.begin_ns)), format_call(frames)},
                     {frames, {}, moment_of({thread.begin_ns, thread.end_ns}, thread.profile)}, item);
      if (!item) item = row;
    }
  }
}

// Returns the row of the most expensive stall that the finding sums up.
QModelIndex StallsPage::row_of_finding(const QString& id) const {
  for (const Finding& finding : findings_)
    if (QString::fromStdString(finding.id) == id) return rows().row_in(finding.contexts.front().frames);
  return {};
}

}  // namespace prof::viewer
