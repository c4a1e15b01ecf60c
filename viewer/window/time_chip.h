#pragma once
// The time that all pages show, beside the other choices of the tools: seen only where it is not all of the
// run.

#include <QLabel>
#include <QWidget>

#include "viewer/document/document.h"

namespace prof::viewer {

class TimeChip : public QWidget {
  Q_OBJECT

 public:
  explicit TimeChip(QWidget* parent = nullptr);

  // nullptr: none is open. The chip does not outlive what it shows.
  void show_document(Document* document);

 private:
  void tell();

  Document* document_ = nullptr;
  QLabel* text_;
};

}  // namespace prof::viewer
