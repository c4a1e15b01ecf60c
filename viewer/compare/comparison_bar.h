#pragma once
// In the window's tool bar while two runs are compared: with what, how, and the way back.

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

  // nullptr: none is open. The document outlives this, or another one is shown first.
  void show_document(Document* document);

 signals:
  // There is a comparison, or none any more.
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
