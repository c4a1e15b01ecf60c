#pragma once
// The page "diff": the functions that cost more and less in the compared run, in sentences with links to rows
// on other pages.

#include <QTextBrowser>

#include "viewer/document/page.h"

namespace prof::viewer {

class DiffPage : public Page {
  Q_OBJECT

 public:
  explicit DiffPage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "diff"; }
  QString title() const override { return "Diff"; }
  QString reason_empty() const override;
  QWidget* main_widget() override { return text_; }
  QString text() const { return text_->toPlainText(); }

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void renew();
  void fill();
  void follow(const QUrl& link);

  QTextBrowser* text_;
  bool is_filled_ = false;
};

}  // namespace prof::viewer
