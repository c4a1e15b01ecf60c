#pragma once
// Data that threads contend for: the data, its cost, which thread reads and writes which bytes of its line,
// the code of all threads involved, and the recommended change.

#include "analysis/findings/finding.h"
#include "viewer/findings/evidence_page.h"
#include "viewer/findings/line_picture_view.h"

namespace prof::viewer {

class ContentionPage : public EvidencePage {
  Q_OBJECT

 public:
  explicit ContentionPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "contention"; }
  QString title() const override { return "Contention"; }
  QString reason_empty() const override;

 protected:
  void fill() override;
  QString limit_of_threads() const override {
    return "Of all threads: contention is not available for a selection of threads.";
  }
  QModelIndex row_of_finding(const QString& id) const override;

 private:
  void add_record(const ContendedRecord& record, const Finding& finding);
  void show_picture(QModelIndex row);

  LinePictureView* picture_;
  std::vector<Finding> findings_;
  std::vector<QStandardItem*> items_;  // the row of each finding
};

}  // namespace prof::viewer
