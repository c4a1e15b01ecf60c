#pragma once
// Times at which all threads waited for one or a few that were blocked: start, threads, code and cost.

#include "viewer/findings/evidence_page.h"
#include "viewer/findings/finding_search.h"

namespace prof::viewer {

class StallsPage : public EvidencePage {
  Q_OBJECT

 public:
  explicit StallsPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "stalls"; }
  QString title() const override { return "Stalls"; }
  QString reason_empty() const override;
  bool is_complete() const override;

 protected:
  void fill() override;
  QString limit_of_time() const override {
    return "The table shows the stalls of the selected time, the sentences those of the whole run.";
  }
  QModelIndex row_of_finding(const QString& id) const override;
  void showEvent(QShowEvent* event) override;

 private:
  FindingSearch* search_ = nullptr;  // the document's; set when the page first becomes visible
  std::vector<Finding> findings_;
};

}  // namespace prof::viewer
