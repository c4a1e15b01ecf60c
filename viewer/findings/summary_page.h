#pragma once
// What ran, how well it was measured, and what was found: the first page that a user sees.

#include <QTextBrowser>

#include "viewer/document/page.h"

namespace prof::viewer {

class SummaryPage : public Page {
  Q_OBJECT

 public:
  explicit SummaryPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "summary"; }
  QString title() const override { return "Summary"; }
  QWidget* main_widget() override { return text_; }

 private:
  void fill();

  QTextBrowser* text_;
};

}  // namespace prof::viewer
