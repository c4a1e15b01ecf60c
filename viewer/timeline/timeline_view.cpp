#include "viewer/timeline/timeline_view.h"

#include <QEvent>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "viewer/document/colours.h"
#include "viewer/timeline/frame_colours.h"
#include "viewer/timeline/timeline_metrics.h"

namespace prof::viewer {

namespace {

constexpr int kMinimapHeight = 44;
constexpr int kMaxLabelWidth = 280;
constexpr double kTallestRow = 44;               // if few rows leave room for more
constexpr double kHighestRow = 200;              // by Ctrl and the wheel
constexpr std::chrono::milliseconds kBudget{4};  // for rows, per repaint; the rest follows in the next one
constexpr size_t kMaxArrows = 60;                // more would hide the picture
constexpr int kPixelsAround = 2;    // around a pointer

}  // namespace

TimelineView::TimelineView(QWidget* parent) : QAbstractScrollArea(parent) {
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::StrongFocus);
  setFrameShape(QFrame::NoFrame);
  viewport()->setMouseTracking(true);
  refining_.setSingleShot(true);
  refining_.setInterval(0);
  connect(&refining_, &QTimer::timeout, this, &TimelineView::refine);
  setAccessibleName("Timeline");
  setMinimumSize(200, 150);
}

void TimelineView::show_content(Content content) {
  content_ = std::move(content);
  clear_overview();
  changed();
}

void TimelineView::show_rows(std::vector<TimelineRow> rows) {
  std::optional<TimelineRow> at_cursor;
  if (cursor_) at_cursor = rows_[cursor_->row];
  rows_ = std::move(rows);
  picture_rows_.clear();
  row_of_profile_.clear();
  shown_profiles_.clear();
  for (size_t row = 0; row < rows_.size(); ++row) {
    picture_rows_.push_back(rows_[row].rows);
    if (rows_[row].is_group() && rows_[row].is_open) continue;
    for (const uint32_t profile : rows_[row].profiles) {
      if (profile >= row_of_profile_.size()) {
        row_of_profile_.resize(profile + size_t{1}, SIZE_MAX);
        shown_profiles_.resize(profile + size_t{1}, false);
      }
      row_of_profile_[profile] = row;
      shown_profiles_[profile] = true;
    }
  }
  point_at({});
  measure_labels();
  clear_overview();
  if (cursor_) {
    const std::optional<size_t> row = row_of(*at_cursor);
    move_cursor(row ? std::optional(Cursor{*row, cursor_->time_ns}) : std::nullopt);
  }
  update_scroll_bar();
  changed();
}

// Returns a thread's own row, or the closed group that contains it.
std::optional<size_t> TimelineView::row_of(const TimelineRow& before) const {
  if (!before.is_group()) return row_of(before.profile);
  for (size_t row = 0; row < rows_.size(); ++row)
    if (rows_[row].is_group() && rows_[row].group == before.group) return row;
  return {};
}

std::optional<size_t> TimelineView::row_of(uint32_t profile) const {
  if (profile >= shown_profiles_.size() || !shown_profiles_[profile]) return {};
  return row_of_profile_[profile];
}

void TimelineView::show_launches(const LaunchTable* launches) {
  launches_ = launches;
  point_at({});
  viewport()->update();
}

void TimelineView::show_whole(TimeRange whole) {
  window_.set_whole(whole);
  selected_.reset();
  cursor_.reset();
  heights_.clear();
  clear_overview();
  changed();
  emit range_changed();
}

void TimelineView::show_range(TimeRange range) {
  if (!window_.show(range)) return;
  changed();
  emit range_changed();
}

void TimelineView::select(std::optional<TimeRange> range) {
  if (range == selected_) return;
  selected_ = range;
  viewport()->update();
  emit selection_changed();
}

void TimelineView::mark_chosen(std::optional<TimeRange> range) {
  chosen_ = range;
  viewport()->update();
}

void TimelineView::move_cursor(std::optional<Cursor> cursor) {
  cursor_ = cursor;
  if (cursor) scroll_to(cursor->row);
  viewport()->update();
  emit cursor_changed();
}

void TimelineView::resizeEvent(QResizeEvent*) {
  update_scroll_bar();
  changed();
  emit sight_changed();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  measure_labels();
  clear_overview();
  changed();
}

// ---- arrows

TimeRange TimelineView::around(uint64_t time_ns) const {
  const auto pixel =
      static_cast<uint64_t>(static_cast<double>(shown().ns()) / picture_area().width() * kPixelsAround) + 1;
  return {time_ns - std::min(pixel, time_ns), time_ns + pixel};
}

LaunchTable::Found TimelineView::arrows_at(const Cursor& cursor) const {
  if (!launches_ || cursor.row >= rows_.size() || rows_[cursor.row].is_group()) return {};
  const uint32_t profile = rows_[cursor.row].profile;
  LaunchTable::Found found = launches_->run_by(profile, around(cursor.time_ns), kMaxArrows);
  if (found.empty()) found = launches_->submitted_by(profile, around(cursor.time_ns), kMaxArrows);
  std::erase_if(
      found, [&](const DeviceLaunch* launch) { return !row_of(launch->thread) || !row_of(launch->queue); });
  return found;
}

void TimelineView::point_at(std::optional<Cursor> cursor) {
  pointed_ = cursor;
  LaunchTable::Found found = cursor ? arrows_at(*cursor) : LaunchTable::Found();
  if (found == at_pointer_) return;
  at_pointer_ = std::move(found);
  viewport()->update();
}

TimelineView::Arrows TimelineView::arrows() const {
  if (!launches_) return {};
  Arrows arrows;
  arrows.chosen = at_pointer_;
  if (cursor_)
    for (const DeviceLaunch* launch : arrows_at(*cursor_)) arrows.chosen.push_back(launch);
  arrows.others = launches_->all_in(shown(), shown_profiles_, kMaxArrows);
  return arrows;
}

bool TimelineView::follow_arrow() {
  const LaunchTable::Found found = cursor_ ? arrows_at(*cursor_) : LaunchTable::Found();
  if (found.empty()) return false;
  const DeviceLaunch& launch = *found.front();
  const bool is_at_task = rows_[cursor_->row].profile == launch.queue;
  const Cursor to{row_of_profile_[is_at_task ? launch.thread : launch.queue],
                  is_at_task ? launch.submit_ns : launch.start_ns};
  if (to.time_ns < shown().begin_ns || to.time_ns >= shown().end_ns) {
    const uint64_t begin = to.time_ns - std::min(shown().ns() / 2, to.time_ns - whole().begin_ns);
    show_range({begin, begin + shown().ns()});
  }
  move_cursor(to);
  return true;
}

// ---- the picture

void TimelineView::changed() {
  is_stale_ = true;
  refining_.start();
  viewport()->update();
}

void TimelineView::refine() {
  if (!content_.traces) return;
  const PictureRequest wanted = request(picture_area().size());
  if (is_stale_) picture_.begin(wanted);
  is_stale_ = false;
  if (overview_width_ != wanted.size.width()) {
    PictureRequest all = request(minimap_area().size());
    all.time = whole();
    overview_.begin(all);
    overview_width_ = wanted.size.width();
  }
  if (!picture_.is_complete())
    picture_.advance(kBudget);
  else
    overview_.advance(kBudget);
  if (!is_complete()) refining_.start();
  viewport()->update();
  emit refined();
}

PictureRequest TimelineView::request(QSize size) const {
  PictureRequest request;
  request.traces = content_.traces;
  request.index = content_.index;
  request.rows = picture_rows_;
  request.keys = content_.keys;
  request.colours = content_.colours;
  request.idle = idle_colour(palette()).rgb();
  request.gap = palette().color(QPalette::Base).rgb();
  request.time = shown();
  const double ratio = devicePixelRatioF();
  request.size = QSize(static_cast<int>(size.width() * ratio), static_cast<int>(size.height() * ratio));
  request.row_height = row_height() * ratio;
  request.scrolled = static_cast<int>(verticalScrollBar()->value() * ratio);
  return request;
}

// ---- positions

// Shaping thousands of texts is slow. The one with the most characters is about the widest.
void TimelineView::measure_labels() {
  const auto longest = std::max_element(
      rows_.begin(), rows_.end(),
      [](const TimelineRow& one, const TimelineRow& other) { return one.label.size() < other.label.size(); });
  const bool has_groups = std::ranges::any_of(rows_, &TimelineRow::is_group);
  labels_width_ = longest == rows_.end()
                      ? 0
                      : fontMetrics().horizontalAdvance(longest->label + "0") + (has_groups ? kIndent : 0);
}

int TimelineView::label_width() const {
  return std::min(labels_width_ + 2 * kPartGap + 2, std::min(kMaxLabelWidth, viewport()->width() / 3));
}

QRect TimelineView::picture_area() const {
  const int top = fontMetrics().height() + kPartGap;
  return QRect(label_width(), top, std::max(viewport()->width() - label_width(), 1),
               std::max(viewport()->height() - top - kMinimapHeight - kPartGap, 1));
}
QRect TimelineView::labels_area() const {
  const QRect picture = picture_area();
  return QRect(0, picture.top(), picture.left(), picture.height());
}
QRect TimelineView::ruler_area() const {
  const QRect picture = picture_area();
  return QRect(picture.left(), 0, picture.width(), picture.top());
}
QRect TimelineView::minimap_area() const {
  const QRect picture = picture_area();
  return QRect(picture.left(), viewport()->height() - kMinimapHeight, picture.width(), kMinimapHeight);
}

double TimelineView::row_height() const {
  if (rows_.empty()) return 1;
  const double fitting = picture_area().height() / static_cast<double>(rows_.size());
  return std::min(std::min(fitting, kTallestRow) * tallness_, kHighestRow);
}

void TimelineView::update_scroll_bar() {
  const int height = static_cast<int>(std::ceil(row_height() * static_cast<double>(rows_.size())));
  const int page = picture_area().height();
  verticalScrollBar()->setRange(0, tallness_ > 1 ? std::max(height - page, 0) : 0);
  verticalScrollBar()->setPageStep(page);
  verticalScrollBar()->setSingleStep(std::max(static_cast<int>(row_height()), 1));
}

double TimelineView::top_of(size_t row) const {
  return picture_area().top() + static_cast<double>(row) * row_height() - verticalScrollBar()->value();
}

void TimelineView::scroll_to(size_t row) {
  const double top = static_cast<double>(row) * row_height();
  const int first = verticalScrollBar()->value(), page = picture_area().height();
  if (top < first) verticalScrollBar()->setValue(static_cast<int>(top));
  if (top + row_height() > first + page)
    verticalScrollBar()->setValue(static_cast<int>(std::ceil(top + row_height())) - page);
}

std::optional<size_t> TimelineView::row_at(int y) const {
  if (!picture_area().contains(picture_area().left(), y)) return {};
  const double row = (y - picture_area().top() + verticalScrollBar()->value() + 0.5) / row_height();
  if (row < 0 || row >= static_cast<double>(rows_.size())) return {};
  return static_cast<size_t>(row);
}

bool TimelineView::is_in_sight(size_t row) const {
  const QRect area = picture_area();
  return top_of(row) < area.bottom() + 1 && top_of(row) + row_height() > area.top();
}

uint64_t TimelineView::time_at(int x) const {
  const QRect area = picture_area();
  const double share = std::clamp(static_cast<double>(x - area.left()) / area.width(), 0.0, 1.0);
  return shown().begin_ns + static_cast<uint64_t>(share * static_cast<double>(shown().ns()));
}

int TimelineView::x_of(uint64_t time_ns) const {
  const QRect area = picture_area();
  if (shown().ns() == 0) return area.left();
  const double ns = static_cast<double>(static_cast<int64_t>(time_ns - shown().begin_ns));
  const double x = ns / static_cast<double>(shown().ns()) * area.width();
  return area.left() + static_cast<int>(std::clamp(x, -1e6, 1e6));
}

}  // namespace prof::viewer
