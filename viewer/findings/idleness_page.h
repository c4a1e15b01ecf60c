#pragma once
// Devices: their activity, the code that keeps them idle, and what threads wait for.

#include "analysis/findings/finding.h"
#include "analysis/views/run/idleness.h"
#include "viewer/findings/device_moments.h"
#include "viewer/findings/evidence_page.h"

namespace prof::viewer {

class IdlenessPage : public EvidencePage {
  Q_OBJECT

 public:
  explicit IdlenessPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "idleness"; }
  QString title() const override { return "Idleness"; }
  QString reason_empty() const override;
  bool is_complete() const override;

 protected:
  void fill() override;
  QString limit_of_threads() const override {
    return "Device times are of all threads, blame and waits of the selected threads.";
  }
  QModelIndex row_of_finding(const QString& id) const override;

 private:
  using FindMoment = std::function<std::optional<Moment>(const Blamed&)>;
  QStandardItem* add_blame(const char* heading, const std::vector<Blamed>& all, const FindMoment& find);
  void add_unblamed(double seconds);
  void add_team_waits(double seconds);
  void add_waits(const std::vector<Waiting>& waits);
  void add_tasks(const std::vector<RankedTask>& tasks);
  void add_devices();

  std::vector<Finding> findings_;  // each with its heading's row, or nullptr
  QStandardItem *device_idle_ = nullptr, *event_causes_ = nullptr;
  QStandardItem* cpu_idle_ = nullptr;
  DeviceMoments* moments_ = nullptr;  // created when the page becomes visible
};

}  // namespace prof::viewer
