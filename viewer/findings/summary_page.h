#pragma once
// The first page that a user sees: the program, the quality of the measurement, and the findings. Links lead
// to lines and pages with details.

#include <QTextBrowser>

#include "viewer/document/page.h"
#include "viewer/findings/finding_search.h"

namespace prof::viewer {

class SummaryPage : public Page {
  Q_OBJECT

 public:
  explicit SummaryPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "summary"; }
  QString title() const override { return "Summary"; }
  QWidget* main_widget() override { return text_; }
  bool is_complete() const override;

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void renew();
  void fill();

  QTextBrowser* text_;
  FindingSearch* search_ = nullptr;  // the document's; set when the page first becomes visible
  bool is_filled_ = false;
};

}  // namespace prof::viewer
