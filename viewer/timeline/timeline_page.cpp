#include "viewer/timeline/timeline_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/database/database.h"
#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/timeline/time_axis.h"

namespace prof::viewer {

namespace {

constexpr int kTimesAfterMs = 30;  // without another change
constexpr size_t kMostTooltipLines = 24;
constexpr int kFrameRole = Qt::UserRole;  // of an item of the stack: its frame, and the next role its depth
constexpr int kDepthRole = Qt::UserRole + 1;

}  // namespace

TimelinePage::TimelinePage(Document& document, QWidget* parent)
    : Page(document, parent), view_(new TimelineView), times_(new FunctionTimes(this)) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(4, 4, 4, 4);
  layout->addWidget(make_controls());
  auto* const splitter = new QSplitter;
  splitter->addWidget(view_);
  splitter->addWidget(make_sides());
  splitter->setStretchFactor(0, 3);
  splitter->setStretchFactor(1, 1);
  splitter->setSizes({940, 320});
  layout->addWidget(splitter, 1);
  setFocusProxy(view_);

  times_later_.setSingleShot(true);
  times_later_.setInterval(kTimesAfterMs);
  connect(&times_later_, &QTimer::timeout, this, &TimelinePage::show_times);
  const auto start_times = [this] { times_later_.start(); };
  connect(view_, &TimelineView::range_changed, this, start_times);
  connect(view_, &TimelineView::selection_changed, this, start_times);
  connect(view_, &TimelineView::cursor_changed, this, &TimelinePage::show_stack);
  view_->describe_by([this](const TimelineView::Cursor& cursor) { return describe(cursor); });
  connect(view_, &TimelineView::range_changed, this, [this] {
    this->document().show_time(view_->shown() == view_->whole() ? std::nullopt
                                                                : std::optional(view_->shown()));
  });
  connect(&document, &Document::depth_changed, this, &TimelinePage::follow_depth);
  connect(&document, &Document::shown_time_changed, this, &TimelinePage::follow_time);
  connect(&document, &Document::tree_changed, this, [this] {
    is_stale_ = true;
    if (isVisible()) refresh();
  });
}

QWidget* TimelinePage::make_controls() {
  auto* const bar = new QWidget;
  auto* const layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  depth_ = new QSlider(Qt::Horizontal);
  depth_->setObjectName("depth");
  depth_->setPageStep(1);
  depth_->setFixedWidth(180);
  depth_->setToolTip("The depth of the call path whose function gives the colour");
  depth_text_ = new QLabel;
  depth_text_->setMinimumWidth(fontMetrics().horizontalAdvance("00 (innermost)  "));
  connect(depth_, &QSlider::valueChanged, this, &TimelinePage::depth_moved);
  filter_ = new QLineEdit;
  filter_->setObjectName("filter");
  filter_->setPlaceholderText("Rows: part of a label, or a pattern such as 0.*");
  filter_->setClearButtonEnabled(true);
  filter_->setMinimumWidth(300);
  filter_->setMaximumWidth(320);
  connect(filter_, &QLineEdit::textChanged, this, [this] {
    if (is_open_) show_rows();
  });
  order_ = new QComboBox;
  order_->setObjectName("order");
  order_->addItems({"by process", "by thread", "by name"});
  order_->setToolTip("How rows are grouped");
  connect(order_, &QComboBox::currentIndexChanged, this, [this] {
    if (is_open_) show_rows();
  });
  progress_ = new QProgressBar;
  progress_->setObjectName("progress");
  progress_->setFormat("indexing: %p %");
  progress_->setFixedWidth(180);
  progress_->hide();
  cancel_ = new QToolButton;
  cancel_->setText("Cancel");
  cancel_->setToolTip("Pixels then show samples of the trace, and there are no times by function");
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, [this] { this->document().traces().cancel(); });
  note_ = new QLabel;
  note_->setObjectName("note");
  auto* const depth_label = new QLabel("&Depth");
  depth_label->setBuddy(depth_);
  auto* const filter_label = new QLabel("&Rows");
  filter_label->setBuddy(filter_);
  for (QWidget* const widget : std::initializer_list<QWidget*>{depth_label, depth_, depth_text_, filter_label,
                                                               filter_, order_, progress_, cancel_})
    layout->addWidget(widget);
  layout->addWidget(note_, 1);
  return bar;
}

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
  stack_ = new QListWidget;
  stack_->setObjectName("stack");
  stack_->setUniformItemSizes(true);
  // A click colours by that depth, Enter or a double click goes to the function.
  connect(stack_, &QListWidget::itemClicked, this,
          [this](const QListWidgetItem* item) { depth_->setValue(item->data(kDepthRole).toInt()); });
  connect(stack_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
    document().ask_for_function(item->data(kFrameRole).toUInt());
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
  connect(table_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    if (const uint32_t frame = times_->at(index.row()).frame; frame != kNone)
      document().ask_for_function(frame);
  });
  auto* const sides = new QSplitter(Qt::Vertical);
  sides->addWidget(titled(stack_title_, stack_));
  sides->addWidget(titled(times_title_, table_));
  sides->setStretchFactor(1, 1);
  return sides;
}

QString TimelinePage::why_empty() const {
  for (const TraceSource& trace : document().database().traces)
    if (trace) return {};
  return "This run has no traces: measure it with `prof run --trace`.";
}

bool TimelinePage::is_complete() const {
  return !isVisible() || !is_open_ ||
         (!document().traces().is_building() && !times_later_.isActive() && view_->is_complete());
}

void TimelinePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  refresh();
}

void TimelinePage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() != QEvent::PaletteChange || !is_open_) return;
  show_content();
}

void TimelinePage::refresh() {
  if (!is_open_) open_traces();
  if (!is_open_ || !is_stale_) return;
  is_stale_ = false;
  const CallTree& tree = document().tree();
  names_.clear();
  for (const Frame& frame : tree.frames)
    names_.push_back(QString::fromStdString(frame_name(*tree.database, frame)));
  {
    const QSignalBlocker blocker(depth_);
    depth_->setRange(0, static_cast<int>(deepest(tree)));
  }
  show_rows();
  follow_depth();
}

void TimelinePage::open_traces() {
  if (const QString why = why_empty(); !why.isEmpty()) return note_->setText(why);
  try {
    Traces& traces = document().traces();
    is_open_ = true;
    const std::optional<TimeRange> wanted = document().shown_time();
    view_->show_whole({traces.mapped().begin_ns(), traces.mapped().end_ns()});
    if (wanted) view_->show_range(*wanted);
    connect(&traces, &Traces::ready, this, [this] { end_of_build({}); });
    connect(&traces, &Traces::not_ready, this,
            [this](const QString& why) { end_of_build(why.isEmpty() ? "not indexed: cancelled" : why); });
    connect(&traces, &Traces::progressed, this, [this](double share) {
      progress_->setVisible(true);
      cancel_->setVisible(true);
      progress_->setValue(static_cast<int>(100 * share));
    });
    traces.want_index();
  } catch (const DatabaseError& error) {
    is_open_ = false;
    note_->setText(error.what());
  }
}

void TimelinePage::end_of_build(const QString& why) {
  progress_->hide();
  cancel_->hide();
  note_->setText(why);
  if (is_stale_) return;
  show_content();
}

void TimelinePage::show_content() {
  const CallTree& tree = document().tree();
  frames_ = frames_at_depth(tree, depth());
  depth_text_->setText(depth_->value() == depth_->maximum() ? QString("%1 (innermost)").arg(depth_->value())
                                                            : QString::number(depth_->value()));
  const Traces& traces = document().traces();
  view_->show_content(
      {&traces.mapped(), traces.index(), frames_.of_context, colours_of_frames(tree), names_});
  show_stack();
  times_later_.start();
}

void TimelinePage::show_rows() {
  const auto order = static_cast<RowOrder>(order_->currentIndex());
  view_->show_rows(timeline_rows(document().database(), document().traces().mapped(), document().threads(),
                                 filter_->text(), order));
  times_later_.start();
}

void TimelinePage::depth_moved(int depth) {
  const bool is_innermost = depth == depth_->maximum();
  document().choose_depth(is_innermost ? std::nullopt : std::optional(static_cast<uint32_t>(depth)));
}

void TimelinePage::follow_depth() {
  const QSignalBlocker blocker(depth_);
  const auto most = static_cast<uint32_t>(depth_->maximum());
  depth_->setValue(static_cast<int>(std::min(document().depth().value_or(most), most)));
  if (is_open_ && isVisible())
    show_content();
  else
    is_stale_ = true;
}

void TimelinePage::follow_time() {
  if (is_open_) view_->show_range(document().shown_time().value_or(view_->whole()));
}

void TimelinePage::show_times() {
  const Traces& traces = document().traces();
  const TimeRange range = view_->selected().value_or(view_->shown());
  const QString what = view_->selected() ? "Selected" : "Shown";
  times_title_->setText(
      QString("%1: %2 in %3 rows").arg(what, duration(range.ns())).arg(view_->rows().size()));
  if (!traces.index()) return times_->show({}, 0);
  Times times(traces.mapped().contexts());
  for (const TimelineRow& row : view_->rows())
    traces.index()->add_times(row.row, range.begin_ns, range.end_ns, times);
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
  if (times.idle > 0) shown.push_back({"(nothing ran)", idle_colour(palette()), times.idle, kNone});
  times_->show(std::move(shown), all);
}

void TimelinePage::show_stack() {
  stack_->clear();
  const auto cursor = view_->cursor();
  if (!cursor) {
    stack_title_->setText("Click into the timeline for the call stack of that instant");
    return;
  }
  const TimelineRow& row = view_->rows()[cursor->row];
  const auto found = instant_at(document().traces().mapped(), row.row, cursor->time_ns);
  stack_title_->setText(row.label + " at " +
                        instant(cursor->time_ns, view_->whole().begin_ns, view_->shown()) +
                        (found ? ", for " + duration(found->end_ns - found->begin_ns) : QString()));
  if (!found || found->context == kNone) {
    stack_->addItem(found ? "(nothing ran)" : "(not followed)");
    return;
  }
  const CallTree& tree = document().tree();
  for (const uint32_t node : path_of(tree, found->context)) {
    const uint32_t frame = tree.nodes[node].frame;
    auto* const item = new QListWidgetItem(names_[frame], stack_);
    QPixmap swatch(10, 10);
    swatch.fill(QColor(colour_of_function(names_[frame].toStdString())));
    item->setIcon(swatch);
    item->setToolTip(names_[frame]);
    item->setData(kFrameRole, frame);
    item->setData(kDepthRole, tree.nodes[node].depth);
    if (tree.nodes[node].depth == depth()) stack_->setCurrentItem(item);
  }
}

QString TimelinePage::describe(const TimelineView::Cursor& cursor) const {
  const TimelineRow& row = view_->rows()[cursor.row];
  const auto found = instant_at(document().traces().mapped(), row.row, cursor.time_ns);
  QString text = "<b>" + row.label.toHtmlEscaped() + "</b><br>";
  if (!found) return text + "not followed at this time";
  const uint64_t origin = view_->whole().begin_ns;
  const auto exact = [&](uint64_t time) {
    return QString::number(static_cast<double>(time - origin) / 1e9, 'f', 9) + " s";
  };
  text += exact(found->begin_ns) + " to " + exact(found->end_ns) + " (" +
          QString::number(found->end_ns - found->begin_ns) + " ns)";
  if (found->context == kNone) return text + "<br>nothing ran";
  const CallTree& tree = document().tree();
  const std::vector<uint32_t> path = path_of(tree, found->context);
  const size_t skipped = path.size() > kMostTooltipLines ? path.size() - kMostTooltipLines : 0;
  if (skipped > 0) text += QString("<br>... %1 more").arg(skipped);
  for (size_t i = skipped; i < path.size(); ++i)
    text += "<br>" + names_[tree.nodes[path[i]].frame].toHtmlEscaped();
  return text;
}

std::vector<PageKey> TimelinePage::keys() const {
  return {{"+, -", "zoom"},
          {"Left, Right", "move; with Shift by all that is shown"},
          {"Home, Backspace", "all of the run; undo of the last zoom or move"},
          {"Up, Down", "another row"},
          {"Page Up, Page Down", "other rows"},
          {"Enter, Escape", "go to the selected time; forget it"}};
}

}  // namespace prof::viewer
