#pragma once
// Selects the threads that all pages show, by check boxes. A text limits the list to matching names. It is a
// menu of the window's tool bar.

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

  // nullptr: no document is open. A document must live until this object is destroyed or shows another one.
  void show_document(Document* document);
  // Returns "All 64 threads" or "3 of 64 threads".
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
  QTimer later_;  // combines several clicks into one selection
};

}  // namespace prof::viewer
