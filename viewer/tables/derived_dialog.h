#pragma once
// Asks for the name and formula of a derived metric.

#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <functional>

#include "analysis/views/tree/call_tree.h"

namespace prof::viewer {

class DerivedDialog : public QDialog {
  Q_OBJECT

 public:
  // The tree must have metrics and outlive the dialog.
  explicit DerivedDialog(const CallTree& tree, QWidget* parent = nullptr);

  // Edits an existing metric.
  void edit(const QString& name, const QString& formula);
  // Takes the input. If it throws FormulaError, the dialog shows the message and stays open.
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
