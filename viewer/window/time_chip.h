#pragma once
// Displays the time range that all pages show, next to the other selections in the tool bar. Visible only if
// it is not the whole run.

#include <QLabel>
#include <QWidget>

#include "viewer/document/document.h"

namespace prof::viewer {

class TimeChip : public QWidget {
  Q_OBJECT

 public:
  explicit TimeChip(QWidget* parent = nullptr);

  // nullptr: no document is open. A document must live until this object is destroyed or shows another one.
  void show_document(Document* document);

 private:
  void tell();

  Document* document_ = nullptr;
  QLabel* text_;
};

}  // namespace prof::viewer
