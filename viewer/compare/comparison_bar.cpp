#include "viewer/compare/comparison_bar.h"

#include <QHBoxLayout>
#include <QSignalBlocker>

#include "viewer/compare/names.h"
#include "viewer/document/other_run.h"

namespace prof::viewer {

ComparisonBar::ComparisonBar(QWidget* parent)
    : QWidget(parent),
      name_(new QLabel),
      same_total_(new QCheckBox("Same &total")),
      swap_(new QToolButton),
      end_(new QToolButton) {
  name_->setObjectName("compared");
  same_total_->setObjectName("same_total");
  same_total_->setToolTip("Scale the other run's costs to equal totals, for runs of different length");
  swap_->setObjectName("swap");
  swap_->setText("Swap");
  swap_->setToolTip("Swap the run before and the run after");
  swap_->setFocusPolicy(Qt::TabFocus);
  end_->setObjectName("end_comparison");
  end_->setText("End comparison");
  end_->setFocusPolicy(Qt::TabFocus);
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(8, 0, 0, 0);
  for (QWidget* const part : {static_cast<QWidget*>(name_), static_cast<QWidget*>(same_total_),
                              static_cast<QWidget*>(swap_), static_cast<QWidget*>(end_)})
    line->addWidget(part);
  connect(same_total_, &QCheckBox::toggled, this, &ComparisonBar::choose);
  connect(swap_, &QToolButton::clicked, this, [this] {
    Comparing how = document_->comparing();
    how.is_other_before = !how.is_other_before;
    document_->choose_comparing(how);
  });
  connect(end_, &QToolButton::clicked, this, [this] { document_->end_comparison(); });
}

void ComparisonBar::show_document(Document* document) {
  document_ = document;
  if (document) connect(document, &Document::comparison_changed, this, &ComparisonBar::renew);
  renew();
}

void ComparisonBar::choose() {
  Comparing how = document_->comparing();
  how.same_total = same_total_->isChecked();
  document_->choose_comparing(how);
}

void ComparisonBar::renew() {
  const OtherRun* const other = document_ ? document_->other_run() : nullptr;
  emit shown(other != nullptr);
  if (!other) return;
  auto [before, after] = names_of(document_->directory(), other->directory);
  if (document_->comparing().is_other_before) std::swap(before, after);
  const QFontMetrics font = fontMetrics();
  const int width = 26 * font.averageCharWidth();
  name_->setText("before: <b>" + font.elidedText(before, Qt::ElideMiddle, width).toHtmlEscaped() +
                 "</b> &nbsp; after: <b>" + font.elidedText(after, Qt::ElideMiddle, width).toHtmlEscaped() +
                 "</b>");
  name_->setToolTip(QString::fromStdString(document_->directory().string()) + "\n" +
                    QString::fromStdString(other->directory.string()));
  const QSignalBlocker blocker(same_total_);
  same_total_->setChecked(document_->comparing().same_total);
}

}  // namespace prof::viewer
