#include "viewer/window/time_chip.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace prof::viewer {

TimeChip::TimeChip(QWidget* parent) : QWidget(parent), text_(new QLabel) {
  setObjectName("time");
  text_->setObjectName("chosen_time");
  auto* const all = new QToolButton;
  all->setObjectName("all_time");
  all->setText("All");
  all->setToolTip("Show the whole run on all pages (Ctrl+Shift+I)");
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(2 * fontMetrics().averageCharWidth(), 0, 0, 0);
  line->addWidget(text_);
  line->addWidget(all);
  connect(all, &QToolButton::clicked, this, [this] {
    if (document_) document_->choose_time({});
  });
  tell();
}

void TimeChip::show_document(Document* document) {
  document_ = document;
  if (document_) {
    connect(document_, &Document::chosen_time_changed, this, &TimeChip::tell);
    connect(document_, &Document::tree_changed, this, &TimeChip::tell);
  }
  tell();
}

void TimeChip::tell() {
  const bool is_chosen = document_ && document_->chosen_time();
  setEnabled(is_chosen);
  text_->setText(is_chosen ? document_->format_chosen_time() +
                                 (document_->is_time_awaited() ? ", once the traces are indexed" : "")
                           : QString("Whole run"));
  text_->setToolTip(is_chosen ? "The time that all pages show, from traces; selected in the timeline"
                              : "Select a part in the timeline (Ctrl+I)");
}

}  // namespace prof::viewer
