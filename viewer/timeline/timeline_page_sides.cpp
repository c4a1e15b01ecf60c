// The parts of a timeline page next to the picture: the call stack of an instant, and the times of functions.

#include <QHeaderView>
#include <QMenu>
#include <QVBoxLayout>

#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/tables/function_menu.h"
#include "viewer/timeline/timeline_page.h"

namespace prof::viewer {

QWidget* TimelinePage::make_sides() {
  const auto titled = [](QLabel*& title, QWidget* widget) {
    auto* const box = new QWidget;
    auto* const layout = new QVBoxLayout(box);
    layout->setContentsMargins(0, 0, 0, 0);
    title = new QLabel;
    title->setWordWrap(true);
    layout->addWidget(title);
    layout->addWidget(widget, 1);
    return box;
  };
  stack_ = new QTreeView;
  stack_->setObjectName("stack");
  stack_->setModel(&stack_model_);
  stack_->setHeaderHidden(true);
  stack_->setRootIsDecorated(false);
  stack_->setUniformRowHeights(true);
  stack_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  stack_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  stack_->setContextMenuPolicy(Qt::CustomContextMenu);
  // A click colours the picture by that depth; Enter or a double click goes to the source.
  connect(stack_, &QTreeView::clicked, this,
          [this](const QModelIndex& index) { depth_->setValue(index.data(kDepthRole).toInt()); });
  connect(stack_, &QTreeView::activated, this, &TimelinePage::go_to_frame_of_stack);
  connect(stack_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    const QModelIndex index = stack_->indexAt(at);
    if (index.isValid() && index.data(kFrameRole).isValid())
      show_menu_of(index.data().toString(), stack_->viewport()->mapToGlobal(at));
  });
  table_ = new QTreeView;
  table_->setObjectName("times");
  table_->setModel(times_);
  table_->setRootIsDecorated(false);
  table_->setUniformRowHeights(true);
  table_->setAlternatingRowColors(true);
  table_->setSortingEnabled(true);
  table_->sortByColumn(FunctionTimes::Time, Qt::DescendingOrder);
  table_->header()->setStretchLastSection(false);
  table_->header()->setSectionResizeMode(FunctionTimes::Function, QHeaderView::Stretch);
  table_->header()->setSectionResizeMode(FunctionTimes::Time, QHeaderView::ResizeToContents);
  table_->header()->setSectionResizeMode(FunctionTimes::Share, QHeaderView::ResizeToContents);
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(table_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    const FunctionTime& time = times_->at(index.row());
    if (time.frame != kNone) go_to_function(time.name);
  });
  connect(table_, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
    const QModelIndex index = table_->indexAt(at);
    if (index.isValid() && times_->at(index.row()).frame != kNone)
      show_menu_of(times_->at(index.row()).name, table_->viewport()->mapToGlobal(at));
  });
  sides_ = new QSplitter(Qt::Vertical);
  sides_->addWidget(titled(stack_title_, stack_));
  sides_->addWidget(titled(times_title_, table_));
  sides_->setStretchFactor(1, 1);
  make_room_for_stack(false);
  return sides_;
}

QAbstractItemView* TimelinePage::table() {
  return stack_->hasFocus() ? stack_ : table_;
}

void TimelinePage::make_room_for_stack(bool has_cursor) {
  if (stack_->isVisibleTo(sides_) == has_cursor && has_cursor) return;
  stack_->setVisible(has_cursor);
  QWidget* const box = stack_title_->parentWidget();
  const int title = 2 * fontMetrics().lineSpacing() + stack_title_->fontMetrics().descent();
  box->setMinimumHeight(title);
  box->setMaximumHeight(has_cursor ? QWIDGETSIZE_MAX : title);
  if (has_cursor) sides_->setSizes({1'000, 1'000});  // the ratio in which they share the height
}

// Other pages select the function, and the source comes to the front.
void TimelinePage::go_to_function(const QString& name) {
  document().ask_for_function(name.toStdString());
  document().ask_for_page("source");
}

void TimelinePage::go_to_frame_of_stack(const QModelIndex& index) {
  if (!index.data(kFrameRole).isValid()) return;
  go_to_function(index.data().toString());
  if (index.data(kFileRole).isValid())
    document().ask_for_source(index.data(kFileRole).toUInt(), index.data(kLineRole).toUInt());
}

void TimelinePage::show_menu_of(const QString& name, const QPoint& at) {
  QMenu menu;
  menu.addAction("Source\tEnter", this, [this, name] { go_to_function(name); });
  menu.addSeparator();
  add_pages_of_function(menu, document(), [this, name] { document().ask_for_function(name.toStdString()); });
  menu.exec(at);
}

void TimelinePage::show_times() {
  const Traces& traces = document().traces();
  const TimeRange range = view_->selected().value_or(view_->shown());
  const QString what = view_->selected() ? "Selected" : "Shown";
  std::vector<size_t> rows;  // rows of open groups once
  for (size_t r = 0; r < view_->rows().size(); ++r) {
    const TimelineRow& row = view_->rows()[r];
    if (!view_->is_in_sight(r) || (row.is_group() && row.is_open)) continue;
    rows.insert(rows.end(), row.rows.begin(), row.rows.end());
  }
  times_title_->setText(QString("%1: %2 in %3 rows").arg(what, duration(range.ns())).arg(rows.size()));
  if (!traces.index()) return times_->show({}, 0);
  Times times(traces.mapped().contexts());
  for (const size_t row : rows) traces.index()->add_times(row, range.begin_ns, range.end_ns, times);
  std::vector<uint64_t> of_frame(frames_.frames, 0);
  for (size_t c = 0; c < times.by_context.size(); ++c) of_frame[frames_.of_context[c]] += times.by_context[c];
  std::vector<FunctionTime> shown;
  uint64_t all = times.idle;
  for (uint32_t frame = 0; frame < of_frame.size(); ++frame) {
    if (of_frame[frame] == 0) continue;
    all += of_frame[frame];
    shown.push_back(
        {names_[frame], QColor(colour_of_function(names_[frame].toStdString())), of_frame[frame], frame});
  }
  if (times.idle > 0)
    shown.push_back({format_no_context(traces.mapped()), idle_colour(palette()), times.idle, kNone});
  times_->show(std::move(shown), all);
  traces.give_back();
}

}  // namespace prof::viewer
