#pragma once
// Part of the window's tool bar while two runs are compared: the name of the other run, how they are
// compared, and a button that ends the comparison.

#include <QCheckBox>
#include <QLabel>
#include <QToolButton>
#include <QWidget>

#include "viewer/document/document.h"

namespace prof::viewer {

class ComparisonBar : public QWidget {
  Q_OBJECT

 public:
  explicit ComparisonBar(QWidget* parent = nullptr);

  // nullptr: no document is open. A document must live until this object is destroyed or shows another one.
  void show_document(Document* document);

 signals:
  // Emitted when a comparison begins or ends.
  void shown(bool is_shown);

 private:
  void renew();
  void choose();

  Document* document_ = nullptr;
  QLabel* name_;
  QCheckBox* same_total_;
  QToolButton* swap_;
  QToolButton* end_;
};

}  // namespace prof::viewer
