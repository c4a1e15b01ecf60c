#pragma once
// Asks for a derived metric: its name, and its formula.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <functional>

#include "analysis/views/call_tree.h"

namespace prof::viewer {

class DerivedDialog : public QDialog {
  Q_OBJECT

 public:
  // The tree has metrics, and outlives it.
  explicit DerivedDialog(const CallTree& tree, QWidget* parent = nullptr);

  // One that there is.
  void edit(const QString& name, const QString& formula);
  // What is done with what was typed. Where that throws FormulaError the dialog tells it and stays open.
  using Take = std::function<void(const QString& name, const QString& formula)>;
  void take_by(Take take) { take_ = std::move(take); }

 private:
  void finish();

  QLineEdit* name_;
  QLineEdit* formula_;
  QLabel* failure_;
  Take take_;
};

}  // namespace prof::viewer
