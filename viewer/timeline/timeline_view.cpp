#include "viewer/timeline/timeline_view.h"

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "viewer/document/colours.h"
#include "viewer/timeline/frame_colours.h"
#include "viewer/timeline/time_axis.h"

namespace prof::viewer {

namespace {

constexpr int kMinimapHeight = 44;
constexpr int kGap = 6;  // between the parts
constexpr int kMostLabelWidth = 190;
constexpr double kTallestRow = 44;   // where few rows leave room for more
constexpr double kHighestRow = 200;  // that Ctrl and the wheel make
constexpr double kZoomOfStep = 0.8;  // of one step of the wheel, or of a key
constexpr double kPanOfStep = 0.1;
constexpr double kDegreesOfWheelStep = 120;
constexpr int kGestureMs = 400;                  // steps closer to each other are undone as one
constexpr std::chrono::milliseconds kBudget{8};  // for rows, of a repaint that is to take 16
constexpr int kDistanceOfTicks = 110;            // pixels

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
  forget_overview();
  changed();
}

void TimelineView::show_rows(std::vector<TimelineRow> rows) {
  rows_ = std::move(rows);
  trace_rows_.clear();
  for (const TimelineRow& row : rows_) trace_rows_.push_back(row.row);
  measure_labels();
  forget_overview();
  if (cursor_) move_cursor({});
  update_scroll_bar();
  changed();
}

void TimelineView::show_whole(TimeRange whole) {
  window_.set_whole(whole);
  selected_.reset();
  cursor_.reset();
  forget_overview();
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

void TimelineView::move_cursor(std::optional<Cursor> cursor) {
  cursor_ = cursor;
  viewport()->update();
  emit cursor_changed();
}

void TimelineView::changed() {
  is_stale_ = true;
  refining_.start();
  viewport()->update();
}

void TimelineView::refine() {
  if (!content_.traces) return;
  const PictureRequest wanted = request(trace_rows_, picture_area().size());
  if (is_stale_) picture_.begin(wanted);
  is_stale_ = false;
  if (overview_width_ != wanted.size.width()) {
    PictureRequest all = request(trace_rows_, minimap_area().size());
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
}

// ---- where things are

// Shaping thousands of texts takes its time: the one of most characters is about the widest.
void TimelineView::measure_labels() {
  const auto longest = std::max_element(
      rows_.begin(), rows_.end(),
      [](const TimelineRow& one, const TimelineRow& other) { return one.label.size() < other.label.size(); });
  labels_width_ = longest == rows_.end() ? 0 : fontMetrics().horizontalAdvance(longest->label + "0");
}

int TimelineView::label_width() const {
  return std::min(labels_width_ + 2 * kGap + 2, std::min(kMostLabelWidth, viewport()->width() / 4));
}

QRect TimelineView::picture_area() const {
  const int top = fontMetrics().height() + kGap;
  return QRect(label_width(), top, std::max(viewport()->width() - label_width(), 1),
               std::max(viewport()->height() - top - kMinimapHeight - kGap, 1));
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

std::optional<size_t> TimelineView::row_at(int y) const {
  if (!picture_area().contains(picture_area().left(), y)) return {};
  const double row = (y - picture_area().top() + verticalScrollBar()->value() + 0.5) / row_height();
  if (row < 0 || row >= static_cast<double>(rows_.size())) return {};
  return static_cast<size_t>(row);
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

// ---- painting

PictureRequest TimelineView::request(const std::vector<size_t>& rows, QSize size) const {
  PictureRequest request;
  request.traces = content_.traces;
  request.index = content_.index;
  request.rows = rows;
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

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Window));
  if (!content_.traces) return;
  paint_picture(painter);
  paint_runs(painter);
  paint_labels(painter);
  paint_ruler(painter);
  paint_minimap(painter);
  paint_marks(painter);
}

void TimelineView::paint_picture(QPainter& painter) {
  const QRect area = picture_area();
  if (is_stale_) refine();
  painter.drawImage(area, picture_.image());
}

void TimelineView::paint_runs(QPainter& painter) const {
  const double ratio = devicePixelRatioF();
  const QRect area = picture_area();
  painter.save();
  painter.setClipRect(area);
  for (const Run& run : picture_.runs()) {
    const QRectF box(area.left() + run.x / ratio + 3, area.top() + run.y / ratio, run.width / ratio - 6,
                     run.height / ratio);
    if (box.height() < fontMetrics().height() - 4) continue;
    const QString name =
        fontMetrics().elidedText(content_.names[run.key], Qt::ElideRight, static_cast<int>(box.width()));
    if (name.size() < 3) continue;
    painter.setPen(ink_on_function());
    painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine, name);
  }
  painter.restore();
}

void TimelineView::paint_labels(QPainter& painter) const {
  const QRect area = labels_area();
  painter.save();
  painter.setClipRect(QRect(0, area.top(), viewport()->width(), area.height()));
  const double height = row_height();
  const int text_height = fontMetrics().height();
  // Of rows that are too low for a label each, only some have one.
  const auto every = static_cast<size_t>(std::max(1.0, std::ceil((text_height - 2) / height)));
  for (size_t i = 0; i < rows_.size(); ++i) {
    const double y = area.top() + static_cast<double>(i) * height - verticalScrollBar()->value();
    if (y > area.bottom()) break;
    if (y + height * static_cast<double>(every) < area.top()) continue;
    if (rows_[i].begins_group && height >= 3) {
      painter.setPen(palette().color(QPalette::PlaceholderText));
      painter.drawLine(QPointF(0, std::floor(y)), QPointF(viewport()->width(), std::floor(y)));
    }
    if (i % every != 0) continue;
    const QRectF box(kGap, y, area.width() - 2 * kGap, every == 1 ? height : text_height);
    painter.setPen(palette().color(QPalette::WindowText));
    painter.drawText(
        box, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
        fontMetrics().elidedText(rows_[i].label, Qt::ElideMiddle, static_cast<int>(box.width())));
  }
  painter.restore();
}

void TimelineView::paint_ruler(QPainter& painter) const {
  const QRect area = ruler_area();
  for (const Tick& tick : ticks(shown(), whole().begin_ns, area.width() / kDistanceOfTicks)) {
    const int x = x_of(tick.time_ns);
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawLine(x, area.bottom() - 4, x, area.bottom());
    painter.setPen(palette().color(QPalette::WindowText));
    const int width = fontMetrics().horizontalAdvance(tick.label);
    const int left = std::clamp(x - width / 2, area.left(), std::max(area.left(), area.right() - width));
    painter.drawText(left, area.bottom() - 5, tick.label);
  }
}

void TimelineView::paint_minimap(QPainter& painter) {
  const QRect area = minimap_area();
  painter.drawImage(area, overview_.image());
  if (whole().ns() == 0) return;
  const double per_ns = area.width() / static_cast<double>(whole().ns());
  const auto x = [&](uint64_t time) {
    return area.left() + static_cast<int>(static_cast<double>(time - whole().begin_ns) * per_ns);
  };
  QColor veil = palette().color(QPalette::Window);
  veil.setAlpha(170);
  const int begin = x(shown().begin_ns), end = std::max(x(shown().end_ns), begin + 2);
  painter.fillRect(QRect(QPoint(area.left(), area.top()), QPoint(begin - 1, area.bottom())), veil);
  painter.fillRect(QRect(QPoint(end, area.top()), QPoint(area.right(), area.bottom())), veil);
  painter.setPen(palette().color(QPalette::Highlight));
  painter.drawRect(QRect(begin, area.top(), end - begin - 1, area.height() - 1));
  const QRect label(0, area.top(), area.left() - kGap, area.height());
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(label, Qt::AlignVCenter | Qt::AlignRight, "all rows");
}

void TimelineView::paint_marks(QPainter& painter) const {
  const QRect area = picture_area();
  painter.setClipRect(QRect(area.left(), 0, area.width(), viewport()->height()));
  if (selected_) {
    QColor colour = palette().color(QPalette::Highlight);
    painter.setPen(colour);
    colour.setAlpha(50);
    const QRect box(QPoint(x_of(selected_->begin_ns), area.top()),
                    QPoint(x_of(selected_->end_ns), area.bottom()));
    painter.fillRect(box, colour);
    painter.drawLine(box.topLeft(), box.bottomLeft());
    painter.drawLine(box.topRight(), box.bottomRight());
  }
  if (cursor_) {
    painter.setPen(palette().color(QPalette::Text));
    const int x = x_of(cursor_->time_ns);
    painter.drawLine(x, area.top(), x, area.bottom());
    const double y =
        area.top() + static_cast<double>(cursor_->row) * row_height() - verticalScrollBar()->value();
    painter.setClipRect(area);
    painter.drawRect(QRectF(x - 2, y - 1, 4, row_height()));
  }
  painter.setClipping(false);
  if (!hasFocus()) return;
  painter.setPen(palette().color(QPalette::Highlight));
  painter.drawRect(area.adjusted(0, 0, -1, -1));
}

// ---- mouse and keys

TimeWindow::Step TimelineView::step() {
  const bool continues = since_step_.isValid() && since_step_.elapsed() < kGestureMs;
  since_step_.restart();
  return continues ? TimeWindow::Step::Continued : TimeWindow::Step::New;
}

void TimelineView::resizeEvent(QResizeEvent*) {
  update_scroll_bar();
  changed();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  measure_labels();
  forget_overview();
  changed();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / kDegreesOfWheelStep;
  const double sideways = event->angleDelta().x() / kDegreesOfWheelStep;
  event->accept();
  if (event->modifiers() & Qt::ControlModifier) {
    tallness_ = std::clamp(tallness_ * std::pow(kZoomOfStep, -steps), 1.0, 10'000.0);
    update_scroll_bar();
    return changed();
  }
  if (event->modifiers() & Qt::ShiftModifier) {
    verticalScrollBar()->setValue(verticalScrollBar()->value() -
                                  static_cast<int>(steps * 3 * verticalScrollBar()->singleStep()));
    return changed();
  }
  bool is_other = false;
  if (steps != 0)
    is_other =
        window_.zoom(std::pow(kZoomOfStep, steps), time_at(static_cast<int>(event->position().x())), step());
  else if (sideways != 0)
    is_other = window_.pan(-sideways * kPanOfStep, step());
  if (!is_other) return;
  changed();
  emit range_changed();
}

void TimelineView::go_to_minimap(int x) {
  const QRect area = minimap_area();
  const double share = std::clamp(static_cast<double>(x - area.left()) / area.width(), 0.0, 1.0);
  const auto middle = whole().begin_ns + static_cast<uint64_t>(share * static_cast<double>(whole().ns()));
  const uint64_t half = shown().ns() / 2;
  const uint64_t begin = middle - std::min(half, middle - whole().begin_ns);
  if (!window_.show({begin, begin + shown().ns()}, step())) return;
  changed();
  emit range_changed();
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return event->ignore();
  pressed_ = event->pos();
  was_dragged_ = false;
  shown_when_pressed_ = shown();
  since_step_.invalidate();
  if (minimap_area().contains(pressed_)) {
    drag_ = Drag::Minimap;
    go_to_minimap(pressed_.x());
  } else if (pressed_.x() >= picture_area().left()) {
    drag_ = event->modifiers() & Qt::ShiftModifier ? Drag::Select : Drag::Move;
  }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (drag_ == Drag::None) return;
  if ((event->pos() - pressed_).manhattanLength() >= QApplication::startDragDistance()) was_dragged_ = true;
  if (drag_ == Drag::Minimap) return go_to_minimap(event->pos().x());
  if (!was_dragged_) return;
  if (drag_ == Drag::Select) {
    const uint64_t one = time_at(pressed_.x()), other = time_at(event->pos().x());
    return select(TimeRange{std::min(one, other), std::max(one, other)});
  }
  const double pixels = pressed_.x() - event->pos().x();
  const double ns = pixels / picture_area().width() * static_cast<double>(shown_when_pressed_.ns());
  const uint64_t begin = shown_when_pressed_.begin_ns;
  const auto by = static_cast<uint64_t>(std::abs(ns));
  const uint64_t to = ns < 0 ? begin - std::min(by, begin - whole().begin_ns) : begin + by;
  since_step_.isValid() ? void() : since_step_.start();
  const auto first = shown() == shown_when_pressed_ ? TimeWindow::Step::New : TimeWindow::Step::Continued;
  if (!window_.show({to, to + shown_when_pressed_.ns()}, first)) return;
  changed();
  emit range_changed();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const Drag drag = std::exchange(drag_, Drag::None);
  if (drag == Drag::None || drag == Drag::Minimap || was_dragged_) return;
  if (drag == Drag::Select) return select({});
  if (const auto row = row_at(event->pos().y())) move_cursor(Cursor{*row, time_at(event->pos().x())});
}

// What is between the two clicks: the run of one function under the pointer cannot be told from the picture,
// so a double click goes to the selection, or closer.
void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !picture_area().contains(event->pos())) return;
  const uint64_t time = time_at(event->pos().x());
  if (selected_ && time >= selected_->begin_ns && time < selected_->end_ns) return show_range(*selected_);
  constexpr double kCloser = 0.25;
  if (!window_.zoom(kCloser, time)) return;
  changed();
  emit range_changed();
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (!act(event->key(), event->modifiers())) event->ignore();
}

bool TimelineView::act(int key, Qt::KeyboardModifiers modifiers) {
  const uint64_t middle = cursor_ && cursor_->time_ns >= shown().begin_ns && cursor_->time_ns < shown().end_ns
                              ? cursor_->time_ns
                              : shown().begin_ns + shown().ns() / 2;
  const double pan = modifiers & Qt::ShiftModifier ? 1 : kPanOfStep;
  bool is_other = false;
  switch (key) {
    case Qt::Key_Left:
      is_other = window_.pan(-pan, step());
      break;
    case Qt::Key_Right:
      is_other = window_.pan(pan, step());
      break;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      is_other = window_.zoom(kZoomOfStep, middle, step());
      break;
    case Qt::Key_Minus:
      is_other = window_.zoom(1 / kZoomOfStep, middle, step());
      break;
    case Qt::Key_Home:
      is_other = window_.show_whole();
      break;
    case Qt::Key_Backspace:
      is_other = window_.undo();
      since_step_.invalidate();
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (selected_) is_other = window_.show(*selected_);
      break;
    case Qt::Key_Escape:
      select({});
      return true;
    case Qt::Key_Up:
    case Qt::Key_Down:
      move_cursor_by_rows(key == Qt::Key_Up ? -1 : 1);
      return true;
    case Qt::Key_PageUp:
    case Qt::Key_PageDown:
      verticalScrollBar()->triggerAction(key == Qt::Key_PageUp ? QAbstractSlider::SliderPageStepSub
                                                               : QAbstractSlider::SliderPageStepAdd);
      changed();
      return true;
    default:
      return false;
  }
  if (!is_other) return true;
  changed();
  emit range_changed();
  return true;
}

void TimelineView::move_cursor_by_rows(int by) {
  if (rows_.empty()) return;
  Cursor to{0, shown().begin_ns + shown().ns() / 2};
  if (cursor_) {
    to = *cursor_;
    if (by < 0 && to.row > 0) --to.row;
    if (by > 0 && to.row + 1 < rows_.size()) ++to.row;
  }
  move_cursor(to);
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QAbstractScrollArea::viewportEvent(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const auto row = row_at(help->pos().y());
  if (row && describe_ && help->pos().x() >= picture_area().left())
    QToolTip::showText(help->globalPos(), describe_({*row, time_at(help->pos().x())}), viewport());
  else
    QToolTip::hideText();
  return true;
}

}  // namespace prof::viewer
