// Mouse and keyboard input of a timeline.

#include <QApplication>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "viewer/timeline/timeline_view.h"

namespace prof::viewer {

namespace {

constexpr double kZoomOfStep = 0.8;  // per step of the wheel, or per key press
constexpr double kPanOfStep = 0.1;
constexpr double kDegreesOfWheelStep = 120;
constexpr int kGestureMs = 400;  // steps closer together than this are undone as one

}  // namespace

TimeWindow::Step TimelineView::step() {
  const bool continues = since_step_.isValid() && since_step_.elapsed() < kGestureMs;
  since_step_.restart();
  return continues ? TimeWindow::Step::Continued : TimeWindow::Step::New;
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  double steps = event->angleDelta().y() / kDegreesOfWheelStep;
  double sideways = event->angleDelta().x() / kDegreesOfWheelStep;
  // Some platforms swap the wheel's axes themselves.
  if (event->modifiers() & Qt::AltModifier && sideways == 0) std::swap(steps, sideways);
  event->accept();
  if (event->modifiers() & Qt::ControlModifier) return make_rows_higher(steps);
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

void TimelineView::make_rows_higher(double steps) {
  const double wanted = std::clamp(tallness_ * std::pow(kZoomOfStep, -steps), 1.0, 10'000.0);
  if (wanted == tallness_) return;
  const bool is_new = step() == TimeWindow::Step::New;
  if (is_new || heights_.empty() || heights_.back().steps != window_.steps())
    heights_.push_back({window_.steps(), tallness_});
  tallness_ = wanted;
  update_scroll_bar();
  changed();
  emit sight_changed();
}

// Undoes the latest change: of the height of rows, or of the time.
bool TimelineView::undo() {
  since_step_.invalidate();
  if (heights_.empty() || heights_.back().steps < window_.steps()) return window_.undo();
  tallness_ = heights_.back().tallness;
  heights_.pop_back();
  update_scroll_bar();
  changed();
  emit sight_changed();
  return false;
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
  } else if (const auto row = row_at(pressed_.y()); row && rows_[*row].is_group()) {
    emit group_asked(rows_[*row].group);
  }
}

void TimelineView::leaveEvent(QEvent* event) {
  point_at({});
  QAbstractScrollArea::leaveEvent(event);
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (drag_ == Drag::None) {
    const auto row = picture_area().contains(event->pos()) ? row_at(event->pos().y()) : std::nullopt;
    return point_at(row ? std::optional(Cursor{*row, time_at(event->pos().x())}) : std::nullopt);
  }
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

// The picture does not show which run of one function is under the pointer, so a double click goes to the
// selection, or zooms in.
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
  const bool has_control = modifiers & Qt::ControlModifier;
  switch (key) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      if (!has_control) return move(key, modifiers);
      move_cursor_in_time(key == Qt::Key_Left ? -1 : 1, modifiers & Qt::ShiftModifier);
      return true;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
    case Qt::Key_Minus:
      if (!has_control) return move(key, modifiers);
      make_rows_higher(key == Qt::Key_Minus ? -1 : 1);
      return true;
    case Qt::Key_Comma:
    case Qt::Key_Period:
      move_cursor_to_change(key == Qt::Key_Comma ? -1 : 1);
      return true;
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
    case Qt::Key_Space:
      if (cursor_ && !rows_[cursor_->row].group.isEmpty()) emit group_asked(rows_[cursor_->row].group);
      return true;
    case Qt::Key_G:
      follow_arrow();
      return true;
    default:
      return move(key, modifiers);
  }
}

bool TimelineView::move(int key, Qt::KeyboardModifiers modifiers) {
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
      is_other = undo();
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (selected_) is_other = window_.show(*selected_);
      break;
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

void TimelineView::move_cursor_in_time(int direction, bool selects) {
  if (!cursor_) return move_cursor_by_rows(0);
  constexpr uint64_t kStepsInSight = 50;
  const uint64_t from = cursor_->time_ns, step = std::max<uint64_t>(shown().ns() / kStepsInSight, 1);
  const uint64_t to = direction < 0 ? from - std::min(step, from - std::min(whole().begin_ns, from))
                                    : std::min(from + step, whole().end_ns);
  if (selects) {
    if (!selected_ || !select_from_) select_from_ = from;
    select(TimeRange{std::min(*select_from_, to), std::max(*select_from_, to)});
  } else {
    select_from_.reset();
  }
  put_cursor_at(to);
}

void TimelineView::move_cursor_to_change(int direction) {
  if (!cursor_) return move_cursor_by_rows(0);
  const TimelineRow& row = rows_[cursor_->row];
  if (row.is_group() || !content_.traces) return;
  const uint64_t time = cursor_->time_ns;
  const auto runs_at = [&](uint64_t at) { return instant_at(*content_.traces, row.rows.front(), at); };
  auto run = runs_at(time);
  if (direction < 0 && (!run || run->begin_ns == time) && time > 0) run = runs_at(time - 1);
  if (run) put_cursor_at(direction < 0 ? run->begin_ns : run->end_ns);
}

// Scrolls along if needed.
void TimelineView::put_cursor_at(uint64_t time_ns) {
  if (time_ns < shown().begin_ns || time_ns > shown().end_ns) {
    const uint64_t half = shown().ns() / 2;
    const uint64_t begin = time_ns - std::min(half, time_ns - std::min(whole().begin_ns, time_ns));
    if (window_.show({begin, begin + shown().ns()}, step())) {
      changed();
      emit range_changed();
    }
  }
  move_cursor(Cursor{cursor_->row, time_ns});
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
