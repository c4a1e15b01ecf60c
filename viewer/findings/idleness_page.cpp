#include "viewer/findings/idleness_page.h"

#include <QStringList>

#include "analysis/findings/device_idleness.h"
#include "analysis/views/run/format_devices.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"
#include "viewer/document/words.h"
#include "viewer/findings/links.h"

namespace prof::viewer {

namespace {

// Returns only the name for a caller: the details contain the rest.
std::string where(const Blamed& blamed) {
  std::string text = blamed.what;
  QString caller = QString::fromStdString(format_function({{blamed.caller, "", "", 0}}));
  caller.remove("(anonymous namespace)::");
  if (!blamed.caller.empty()) text += " <- " + caller.toStdString();
  if (!blamed.location.empty()) text += " (" + blamed.location + ")";
  return text;
}

double idle_s(const RunSummary& run) {
  double sum = 0;
  for (const DeviceUse& use : run.devices) sum += use.idle_s();
  return sum;
}

}  // namespace

IdlenessPage::IdlenessPage(Document& document, QWidget* parent)
    : EvidencePage(document,
                   {"what", "time", "share", "of run at most", "launch", "gaps", "wake-up", "rank by time"},
                   parent) {}

QString IdlenessPage::reason_empty() const {
  if (!document().run().devices.empty()) return {};
  return QString(kNoDevices) +
         "\nprof run traces devices by default; prof run -e locks shows what else threads wait for.";
}

bool IdlenessPage::is_complete() const {
  return !moments_ || moments_->is_complete();
}

void IdlenessPage::fill() {
  if (!moments_) {
    moments_ = new DeviceMoments(document(), this);
    connect(moments_, &DeviceMoments::ready, this, &IdlenessPage::renew_details);
  }
  const RunSummary& run = document().run();
  const Idleness found = idleness(document().database(), document().measured_tree().selection, run);
  QStringList said;
  for (const DeviceUse& use : run.devices) {
    said << "<b>" + html(format_device(run, use)) + "</b><br>" + html(format_device_shares(use));
    if (use.paused_s > 0)
      said << html("measuring was paused for " + format_duration(use.paused_s) + ", which is not counted");
    if (const size_t processes = processes_that_share(run, use); processes > 1)
      said << QString("%1 processes of this run share it: each is blamed for the time in which none used it")
                  .arg(processes);
  }
  findings_ = device_idleness_findings(found);
  for (const Finding& finding : findings_) said << html(finding.sentence);
  said << "<small>" + html(kBlameCaveat) + "</small>";
  show_sentences(said.join("<br>"));
  device_idle_ =
      add_blame("what keeps devices idle, and its share of the idleness", found.device,
                [this](const Blamed& blamed) { return moments_->idleness_in(blamed.frames); });
  add_unblamed(found.unblamed_s);
  add_team_waits(found.team_waits_s);
  cpu_idle_ = add_blame("what keeps threads waiting, and its share of that", found.cpu,
                        [this](const Blamed& blamed) { return moments_->run_of(blamed.what); });
  if (found.rank_waits_s > 0)
    rows().add({"not blamed: ranks waited for other ranks in MPI", seconds_cell(found.rank_waits_s)}, {});
  event_causes_ =
      add_blame("what keeps commands of other queues waiting for its event, and its share of that",
                found.event_causes, [this](const Blamed& blamed) { return moments_->run_of(blamed.what); });
  add_blame("commands that wait for an event of another queue", found.event_waits,
            [this](const Blamed& blamed) { return moments_->run_of(blamed.what); });
  add_waits(found.waits);
  add_tasks(found.tasks);
  add_devices();
}

QModelIndex IdlenessPage::row_of_finding(const QString& id) const {
  for (const Finding& finding : findings_) {
    if (QString::fromStdString(finding.id) != id) continue;
    const QStandardItem* const heading = finding.kind == FindingKind::DeviceIdle  ? device_idle_
                                         : finding.kind == FindingKind::EventWait ? event_causes_
                                                                                  : cpu_idle_;
    if (heading) return rows().row_in(finding.contexts.front().frames, heading->index());
  }
  return {};
}

QStandardItem* IdlenessPage::add_blame(const char* heading, const std::vector<Blamed>& all,
                                       const FindMoment& find) {
  if (all.empty()) return nullptr;
  QStandardItem* const parent = rows().add_heading(heading);
  for (const Blamed& blamed : all)
    rows().add({where(blamed), seconds_cell(blamed.value_s), share_cell(blamed.share),
                share_cell(blamed.share_of_run)},
               {blamed.frames, {}, [blamed, find] { return find(blamed); }}, parent);
  return parent;
}

void IdlenessPage::add_unblamed(double seconds) {
  if (seconds <= 0) return;
  const double idle = idle_s(document().run());
  rows().add({"devices were idle while threads slept or waited for something else", seconds_cell(seconds),
              share_cell(idle > 0 ? seconds / idle : 0)},
             {});
}

void IdlenessPage::add_team_waits(double seconds) {
  if (seconds <= 0) return;
  rows().add({"not blamed: threads waited for other threads in OpenMP or OpenBLAS", seconds_cell(seconds)},
             {});
}

void IdlenessPage::add_waits(const std::vector<Waiting>& waits) {
  if (waits.empty()) return;
  QStandardItem* const parent =
      rows().add_heading("where threads wait for a device, and the parts not covered by tasks");
  for (const Waiting& waiting : waits)
    rows().add({where(waiting.at), seconds_cell(waiting.at.value_s), share_cell(waiting.at.share),
                share_cell(waiting.at.share_of_run), seconds_cell(waiting.launch_latency_s),
                seconds_cell(waiting.gap_s), seconds_cell(waiting.wake_latency_s)},
               {waiting.at.frames,
                {},
                [this, code = waiting.at.frames] { return moments_->wait_in(code); }},
               parent);
}

void IdlenessPage::add_tasks(const std::vector<RankedTask>& tasks) {
  if (tasks.empty()) return;
  QStandardItem* const parent = rows().add_heading("kernels and copies, by the time threads waited for them");
  for (const RankedTask& task : tasks) {
    const QString tip = QString("blamed for %1, number %2 by that; ran for %3, number %4 by that")
                            .arg(QString::fromStdString(format_duration(task.blame_s)))
                            .arg(task.blame_rank)
                            .arg(QString::fromStdString(format_duration(task.time_s)))
                            .arg(task.time_rank);
    rows().add(
        {task.name, seconds_cell(task.blame_s), "", "", "", "", "",
         Cell(
             QString("%1 (%2)").arg(task.time_rank).arg(QString::fromStdString(format_duration(task.time_s))),
             static_cast<double>(task.time_rank), tip)},
        {{}, {}, [this, name = task.name] { return moments_->run_of(name); }}, parent);
  }
}

void IdlenessPage::add_devices() {
  const RunSummary& run = document().run();
  for (const DeviceUse& use : run.devices) {
    QStandardItem* const parent = rows().add_heading(QString::fromStdString(format_device(run, use)) +
                                                     ", and shares of its time in use");
    rows().add({"in use", seconds_cell(use.window_s)}, {}, parent);
    for (const DeviceTime& time : device_times(use)) {
      const std::string meaning = *time.meaning ? std::string(": ") + time.meaning : "";
      rows().add({time.name + meaning, seconds_cell(time.seconds),
                  share_cell(use.window_s > 0 ? time.seconds / use.window_s : 0)},
                 {}, parent);
    }
    if (use.incomplete > 0)
      rows().add({"incomplete tasks, excluded from the times: " + std::to_string(use.incomplete)}, {},
                 parent);
    for (const DeviceUse::Queue& queue : use.queues) {
      const QueueCosts costs = queue_costs(document().database(), queue.profile);
      const std::string name = queue.name.empty() ? "(no name)" : queue.name;
      rows().add(
          {name + ": " + format_count(costs.tasks, "task") + ", " + format_bytes(costs.to_device_bytes) +
               " to the device, " + format_bytes(costs.from_device_bytes) + " from it, copies " +
               format_duration(costs.copy_s),
           seconds_cell(costs.execution_s)},
          {{}, {}, [this, of = queue.profile] { return moments_->all_of(of); }}, parent);
    }
  }
}

}  // namespace prof::viewer
