#pragma once
// Devices: what they did, who keeps them idle, and what keeps threads waiting for them.

#include "analysis/views/idleness.h"
#include "viewer/findings/device_moments.h"
#include "viewer/findings/evidence_page.h"

namespace prof::viewer {

class IdlenessPage : public EvidencePage {
  Q_OBJECT

 public:
  explicit IdlenessPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "idleness"; }
  QString title() const override { return "Idleness"; }
  QString why_empty() const override;
  bool is_complete() const override;

 protected:
  void fill() override;

 private:
  using FindMoment = std::function<std::optional<Moment>(const Blamed&)>;
  void add_blame(const char* heading, const std::vector<Blamed>& all, const FindMoment& find);
  void add_unblamed(double seconds);
  void add_waits(const std::vector<Waiting>& waits);
  void add_tasks(const std::vector<RankedTask>& tasks);
  void add_devices();

  DeviceMoments* moments_ = nullptr;  // from when the page is seen
};

}  // namespace prof::viewer
