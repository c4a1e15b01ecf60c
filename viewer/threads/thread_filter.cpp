#include "viewer/threads/thread_filter.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include "analysis/views/tree/selection.h"
#include "analysis/words/numbers.h"

namespace prof::viewer {

namespace {

constexpr int kLaterMs = 200;

}  // namespace

ThreadFilter::ThreadFilter(QWidget* parent) : QWidget(parent), text_(new QLineEdit), list_(new QListWidget) {
  text_->setObjectName("filter");
  text_->setPlaceholderText("Filter by rank, number or name");
  text_->setClearButtonEnabled(true);
  list_->setObjectName("threads");
  list_->setUniformItemSizes(true);
  auto* const listed = new QPushButton("&Listed ones");
  listed->setObjectName("listed");
  listed->setToolTip("Select only the threads in the filtered list (Enter)");
  auto* const all = new QPushButton("&All");
  all->setObjectName("all");
  all->setToolTip("Select all threads");
  auto* const buttons = new QHBoxLayout;
  buttons->addWidget(listed);
  buttons->addWidget(all);
  auto* const column = new QVBoxLayout(this);
  column->addWidget(text_);
  column->addWidget(list_);
  column->addLayout(buttons);
  setMinimumWidth(40 * fontMetrics().averageCharWidth());
  later_.setSingleShot(true);
  later_.setInterval(kLaterMs);
  connect(&later_, &QTimer::timeout, this, &ThreadFilter::apply);
  connect(text_, &QLineEdit::textChanged, this, &ThreadFilter::leave_matching);
  connect(text_, &QLineEdit::returnPressed, this, &ThreadFilter::choose_listed);
  connect(list_, &QListWidget::itemChanged, &later_, qOverload<>(&QTimer::start));
  connect(listed, &QPushButton::clicked, this, &ThreadFilter::choose_listed);
  connect(all, &QPushButton::clicked, this, &ThreadFilter::choose_all);
}

void ThreadFilter::show_document(Document* document) {
  document_ = document;
  later_.stop();
  text_->clear();
  list_->clear();
  if (document_) connect(document_, &Document::tree_changed, this, &ThreadFilter::fill);
  fill();
}

QString ThreadFilter::words() const {
  if (!document_) return "Threads";
  const size_t all = document_->database().profiles.size();
  const QString count = QString::fromStdString(format_count(all, "thread"));
  if (document_->has_all_threads()) return "All " + count;
  return QString("%1 of %2").arg(document_->threads().size()).arg(count);
}

void ThreadFilter::fill() {
  const QSignalBlocker quiet(list_);
  const size_t count = document_ ? document_->database().profiles.size() : 0;
  if (static_cast<size_t>(list_->count()) != count) {
    list_->clear();
    for (uint32_t thread = 0; thread < count; ++thread)
      list_->addItem(QString::fromStdString(thread_label(document_->database(), thread)));
  }
  for (int row = 0; row < list_->count(); ++row) list_->item(row)->setCheckState(Qt::Unchecked);
  if (document_)
    for (const uint32_t thread : document_->threads())
      list_->item(static_cast<int>(thread))->setCheckState(Qt::Checked);
  leave_matching();
  emit words_changed(words());
}

void ThreadFilter::leave_matching() {
  for (int row = 0; row < list_->count(); ++row)
    list_->item(row)->setHidden(!list_->item(row)->text().contains(text_->text(), Qt::CaseInsensitive));
}

void ThreadFilter::choose_all() {
  if (document_) document_->choose_all_threads();
}

void ThreadFilter::choose_listed() {
  std::vector<uint32_t> threads;
  for (int row = 0; row < list_->count(); ++row)
    if (!list_->item(row)->isHidden()) threads.push_back(static_cast<uint32_t>(row));
  if (document_ && !threads.empty()) document_->choose_threads(std::move(threads));
}

// An empty selection is not applied: the list shows the current selection again.
void ThreadFilter::apply() {
  std::vector<uint32_t> threads;
  for (int row = 0; row < list_->count(); ++row)
    if (list_->item(row)->checkState() == Qt::Checked) threads.push_back(static_cast<uint32_t>(row));
  if (!document_ || threads.empty()) return fill();
  document_->choose_threads(std::move(threads));
}

}  // namespace prof::viewer
