#include "viewer/tables/derived_dialog.h"

#include <QDialogButtonBox>
#include <QFormLayout>

#include "viewer/tables/columns.h"

namespace prof::viewer {

DerivedDialog::DerivedDialog(const CallTree& tree, QWidget* parent)
    : QDialog(parent), name_(new QLineEdit), formula_(new QLineEdit), failure_(new QLabel) {
  constexpr int kLetters = 60;
  setObjectName("derived");
  setWindowTitle("Derived metric");
  name_->setObjectName("name");
  formula_->setObjectName("formula");
  formula_->setMinimumWidth(kLetters * fontMetrics().averageCharWidth());
  formula_->setPlaceholderText(formula_term(tree, 0, true) + " / 1000");
  failure_->setObjectName("failure");
  failure_->setWordWrap(true);
  auto* const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  auto* const form = new QFormLayout(this);
  form->addRow("&Name", name_);
  form->addRow("&Formula", formula_);
  form->addRow(failure_);
  form->addRow(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons, &QDialogButtonBox::accepted, this, &DerivedDialog::finish);
}

void DerivedDialog::edit(const QString& name, const QString& formula) {
  name_->setText(name);
  formula_->setText(formula);
}

// A formula without a name is its own name. In settings, "=" separates the name from the formula.
void DerivedDialog::finish() {
  const QString formula = formula_->text().trimmed(), name = name_->text().trimmed();
  try {
    take_(name.isEmpty() ? formula : QString(name).replace('=', ' '), formula);
    accept();
  } catch (const FormulaError& error) {
    failure_->setText(error.what());
  }
}

}  // namespace prof::viewer
