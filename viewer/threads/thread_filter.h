#pragma once
// Which threads all pages show: check boxes, and a text that leaves only those of a name in the list. Lies in
// a menu of the window's tools.

#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QTimer>
#include <QWidget>
#include <vector>

#include "viewer/document/document.h"

namespace prof::viewer {

class ThreadFilter : public QWidget {
  Q_OBJECT

 public:
  explicit ThreadFilter(QWidget* parent = nullptr);

  // nullptr: none is open. The filter does not outlive what it shows.
  void show_document(Document* document);
  // "All 64 threads", "3 of 64 threads"
  QString words() const;
  QLineEdit* text() const { return text_; }

 signals:
  void words_changed(const QString& words);

 private:
  void fill();
  void leave_matching();
  void choose_all();
  void choose_listed();
  void apply();

  Document* document_ = nullptr;
  QLineEdit* text_;
  QListWidget* list_;
  QTimer later_;  // so that several clicks are one choice
};

}  // namespace prof::viewer
