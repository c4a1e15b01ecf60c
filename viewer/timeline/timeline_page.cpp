#include "viewer/timeline/timeline_page.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/database/database.h"
#include "analysis/views/tree/selection.h"
#include "viewer/document/remembered.h"

namespace prof::viewer {

namespace {

constexpr int kTimesAfterMs = 30;  // after the last change
constexpr const char* kOrderSetting = "timeline/rows";

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
  remember_splitter(*splitter, "timeline");
  layout->addWidget(splitter, 1);
  setFocusProxy(view_);

  times_later_.setSingleShot(true);
  times_later_.setInterval(kTimesAfterMs);
  connect(&times_later_, &QTimer::timeout, this, &TimelinePage::show_times);
  const auto start_times = [this] { times_later_.start(); };
  connect(view_, &TimelineView::range_changed, this, start_times);
  connect(view_, &TimelineView::selection_changed, this, start_times);
  connect(view_, &TimelineView::sight_changed, this, start_times);
  connect(view_, &TimelineView::range_changed, this, &TimelinePage::offer_choice);
  connect(view_, &TimelineView::selection_changed, this, &TimelinePage::offer_choice);
  connect(&document, &Document::chosen_time_changed, this, &TimelinePage::offer_choice);
  auto* const choose = new QAction("Select this time for all pages", view_);
  choose->setShortcut(Qt::Key_T);
  choose->setShortcutContext(Qt::WidgetShortcut);
  connect(choose, &QAction::triggered, this, &TimelinePage::choose_time);
  auto* const all = new QAction("Show the whole run on all pages", view_);
  all->setShortcut(QKeySequence("Shift+T"));
  all->setShortcutContext(Qt::WidgetShortcut);
  connect(all, &QAction::triggered, this, [this] { this->document().choose_time({}); });
  view_->addActions({choose, all});
  view_->setContextMenuPolicy(Qt::ActionsContextMenu);
  // Not during painting: releasing much memory takes milliseconds.
  connect(
      view_, &TimelineView::refined, this, [this] { this->document().traces().give_back(); },
      Qt::QueuedConnection);
  connect(view_, &TimelineView::cursor_changed, this, &TimelinePage::show_stack);
  connect(view_, &TimelineView::group_asked, this, [this](const QString& group) {
    groups_.toggle(group);
    show_rows();
  });
  view_->describe_by([this](const TimelineView::Cursor& cursor) { return describe(cursor); });
  connect(view_, &TimelineView::range_changed, this, [this] {
    this->document().show_time(view_->shown() == view_->whole() ? std::nullopt
                                                                : std::optional(view_->shown()));
  });
  connect(&document, &Document::depth_changed, this, &TimelinePage::follow_depth);
  connect(&document, &Document::shown_time_changed, this, &TimelinePage::follow_time);
  connect(&document, &Document::moment_asked, this, [this](const Moment& moment) {
    wanted_ = moment;
    if (isVisible()) refresh();
  });
  connect(&document, &Document::tree_changed, this, [this] {
    // For another time, the traces are the same.
    if (tree_ == this->document().shared_measured_tree()) return;
    is_stale_ = true;
    if (isVisible()) refresh();
  });
  offer_choice();
}

void TimelinePage::choose_time() {
  if (!is_open_) return;
  const TimeRange range = view_->selected().value_or(view_->shown());
  document().choose_time(range == view_->whole() ? std::nullopt : std::optional(range));
  view_->select({});
}

void TimelinePage::offer_choice() {
  choose_->setEnabled(view_->selected() || view_->shown() != view_->whole());
  view_->mark_chosen(document().chosen_time());
}

void TimelinePage::tell(const QString& note) {
  note_->setText(note);
  note_->setToolTip(note);  // in case there is no room for all of it
}

QWidget* TimelinePage::make_controls() {
  auto* const bar = new QWidget;
  auto* const layout = new QHBoxLayout(bar);
  layout->setContentsMargins(0, 0, 0, 0);
  depth_ = new QSlider(Qt::Horizontal);
  depth_->setObjectName("depth");
  depth_->setPageStep(1);
  depth_->setMinimumWidth(90);
  depth_->setMaximumWidth(180);
  depth_->setToolTip("Depth of the call path that colors the rows");
  depth_text_ = new QLabel;
  depth_text_->setMinimumWidth(fontMetrics().horizontalAdvance("00 (innermost)  "));
  connect(depth_, &QSlider::valueChanged, this, &TimelinePage::depth_moved);
  filter_ = new QLineEdit;
  filter_->setObjectName("filter");
  filter_->setPlaceholderText("label, or 0.*");
  filter_->setToolTip("Parts of labels, or patterns such as 0.*, comma-separated");
  filter_->setClearButtonEnabled(true);
  filter_->setMinimumWidth(100);
  filter_->setMaximumWidth(320);
  connect(filter_, &QLineEdit::textChanged, this, [this] {
    if (is_open_) show_rows();
  });
  order_ = new QComboBox;
  order_->setObjectName("order");
  order_->addItems({"by process", "by node", "by kind", "by thread", "by name"});  // in the order of RowOrder
  order_->setCurrentIndex(std::clamp(QSettings().value(kOrderSetting).toInt(), 0, order_->count() - 1));
  order_->setToolTip("Grouping of rows; click on a group's label to open or close it");
  connect(order_, &QComboBox::currentIndexChanged, this, [this](int order) {
    QSettings().setValue(kOrderSetting, order);
    if (is_open_) show_rows();
  });
  shows_launches_ = new QCheckBox("&Launches");
  shows_launches_->setObjectName("launches");
  shows_launches_->setToolTip("Arrows from the submission of a task to its start on the device");
  shows_launches_->setChecked(true);
  shows_launches_->hide();
  connect(shows_launches_, &QCheckBox::toggled, this, &TimelinePage::show_launches);
  progress_ = new QProgressBar;
  progress_->setObjectName("progress");
  progress_->setFormat("indexing: %p %");
  progress_->setMinimumWidth(100);
  progress_->setMaximumWidth(180);
  progress_->hide();
  cancel_ = new QToolButton;
  cancel_->setObjectName("cancel");
  cancel_->hide();
  connect(cancel_, &QToolButton::clicked, this, [this] {
    Traces& traces = this->document().traces();
    if (traces.is_building()) return traces.cancel();
    traces.want_index();
    tell({});
    offer_to_cancel();
  });
  choose_ = new QToolButton;
  choose_->setObjectName("choose");
  choose_->setText("Select for all pages");
  choose_->setToolTip(
      "Show on all pages the time selected here (drag with Shift), otherwise the visible time (T); Shift+T "
      "shows the whole run");
  connect(choose_, &QToolButton::clicked, this, &TimelinePage::choose_time);
  note_ = new QLabel;
  note_->setObjectName("note");
  note_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long one does not widen the window
  auto* const depth_label = new QLabel("&Depth");
  depth_label->setBuddy(depth_);
  auto* const filter_label = new QLabel("Ro&ws");
  filter_label->setBuddy(filter_);
  for (QWidget* const widget :
       std::initializer_list<QWidget*>{depth_label, depth_, depth_text_, filter_label, filter_, order_,
                                       shows_launches_, choose_, progress_, cancel_})
    layout->addWidget(widget);
  layout->addWidget(note_, 1);
  return bar;
}

QString TimelinePage::reason_empty() const {
  for (const TraceSource& trace : document().database().traces)
    if (trace) return {};
  return "This run has no traces; measure it with `prof run --trace`.";
}

bool TimelinePage::is_complete() const {
  return !isVisible() || !is_open_ ||
         (!document().traces().is_building() && !launches_->is_reading() && !times_later_.isActive() &&
          view_->is_complete());
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
  if (!is_open_) return;
  if (is_stale_) show_document();
  if (wanted_) go_to(*std::exchange(wanted_, {}));
}

void TimelinePage::show_document() {
  is_stale_ = false;
  tree_ = document().shared_measured_tree();
  const CallTree& tree = *tree_;
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
  if (const QString why = reason_empty(); !why.isEmpty()) return tell(why);
  try {
    Traces& traces = document().traces();
    is_open_ = true;
    const std::optional<TimeRange> wanted = document().shown_time();
    view_->show_whole({traces.mapped().begin_ns(), traces.mapped().end_ns()});
    if (wanted) view_->show_range(*wanted);
    connect(&traces, &Traces::ready, this, [this] { end_of_build({}); });
    connect(&traces, &Traces::not_ready, this, [this](const QString& why) {
      failure_ = why;
      end_of_build(why.isEmpty() ? "not indexed: canceled" : why);
      cancel_->setText("Index");
      cancel_->setToolTip("Read the traces again, for exact pixels and times by function");
      cancel_->show();
    });
    connect(&traces, &Traces::progressed, this, [this](double share) {
      progress_->setVisible(true);
      offer_to_cancel();
      progress_->setValue(static_cast<int>(100 * share));
    });
    launches_ = new LaunchReader(document().database(), this);
    connect(launches_, &LaunchReader::ready, this, [this](const QString& why) {
      shows_launches_->setVisible(!launches_->table().empty());
      if (!why.isEmpty()) shows_launches_->setToolTip(why);
      if (launches_->table().empty()) tell(why);
      show_launches();
    });
    traces.want_index();
  } catch (const DatabaseError& error) {
    is_open_ = false;
    failure_ = error.what();
    tell(failure_);
  }
}

// Shows the moment with as much time around it, and its row open and visible.
void TimelinePage::go_to(const Moment& moment) {
  const std::vector<uint32_t>& chosen = document().threads();
  const bool is_chosen = std::ranges::binary_search(chosen, moment.profile);
  tell(is_chosen ? QString()
                 : QString::fromStdString(thread_label(document().database(), moment.profile)) +
                       " is not among the selected threads; Ctrl+Shift+T selects all");
  if (is_chosen && !view_->row_of(moment.profile)) filter_->clear();
  const auto row = [&]() -> const TimelineRow* {
    const std::optional<size_t> at = view_->row_of(moment.profile);
    return at ? &view_->rows()[*at] : nullptr;
  };
  if (row() && row()->is_group()) {
    groups_.toggle(row()->group);
    show_rows();
  }
  const uint64_t before = std::min(moment.range.ns() / 2, moment.range.begin_ns);
  view_->show_range({moment.range.begin_ns - before, moment.range.end_ns + moment.range.ns() / 2});
  view_->select(moment.range);
  if (const std::optional<size_t> at = view_->row_of(moment.profile))
    view_->move_cursor(TimelineView::Cursor{*at, moment.at_ns});
  view_->setFocus();
}

void TimelinePage::offer_to_cancel() {
  cancel_->setText("Cancel");
  cancel_->setToolTip(
      "Stop indexing: pixels show samples of the trace, and times by function are not available");
  cancel_->show();
}

void TimelinePage::end_of_build(const QString& why) {
  progress_->hide();
  cancel_->hide();
  tell(why);
  if (is_stale_) return;
  show_content();
}

void TimelinePage::show_content() {
  const CallTree& tree = document().measured_tree();
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
                                 filter_->text(), order, groups_));
  times_later_.start();
}

void TimelinePage::show_launches() {
  view_->show_launches(shows_launches_->isChecked() && launches_ ? &launches_->table() : nullptr);
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

std::vector<PageKey> TimelinePage::keys() const {
  return {{"+, -", "zoom"},
          {"Left, Right", "move; with Shift by a whole screen"},
          {"Home, Backspace", "whole run; undo the last zoom, move or row height"},
          {"Up, Down", "previous or next row"},
          {"Ctrl+Left, Ctrl+Right", "move the cursor in time; with Shift, select the time on the way"},
          {", .", "move the cursor to the next change in its row"},
          {"Ctrl++, Ctrl+-", "taller or lower rows"},
          {"Space", "open or close the row's group"},
          {"G", "from a task to its submission, and back"},
          {"Page Up, Page Down", "scroll rows"},
          {"T, Shift+T", "all pages show the selected or visible time; the whole run again"},
          {"Enter, Escape", "zoom to the selected time; clear the selection"}};
}

}  // namespace prof::viewer
