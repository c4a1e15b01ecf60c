// Paints a timeline.

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/timeline/frame_colours.h"
#include "viewer/timeline/time_axis.h"
#include "viewer/timeline/timeline_metrics.h"
#include "viewer/timeline/timeline_view.h"

namespace prof::viewer {

namespace {

constexpr int kDistanceOfTicks = 110;
constexpr double kArrowHead = 6;

// The mark of a group: to the right if it is closed, down if it is open.
void paint_triangle(QPainter& painter, QPointF middle, bool is_open) {
  constexpr double kHalf = 4;
  QPolygonF shape;
  if (is_open)
    shape << QPointF(-kHalf, -kHalf / 2) << QPointF(kHalf, -kHalf / 2) << QPointF(0, kHalf / 2);
  else
    shape << QPointF(-kHalf / 2, -kHalf) << QPointF(-kHalf / 2, kHalf) << QPointF(kHalf / 2, 0);
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setBrush(painter.pen().color());
  painter.setPen(Qt::NoPen);
  painter.drawPolygon(shape.translated(middle));
  painter.restore();
}

}  // namespace

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  painter.fillRect(viewport()->rect(), palette().color(QPalette::Window));
  if (!content_.traces) return;
  paint_picture(painter);
  paint_runs(painter);
  paint_labels(painter);
  paint_ruler(painter);
  paint_minimap(painter);
  paint_arrows(painter);
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
    const QString name = fitted_name(content_.names[run.key], fontMetrics(), static_cast<int>(box.width()));
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
  // If rows are too low for a label each, only some have one.
  const auto every = static_cast<size_t>(std::max(1.0, std::ceil((text_height - 2) / height)));
  constexpr double kMinParted = 3;  // lower rows have no lines between groups
  const size_t step = height >= kMinParted ? 1 : every;
  const double top = top_of(0);
  const auto above = static_cast<size_t>(std::max(0.0, (area.top() - top) / height));
  for (size_t i = above / every * every; i < rows_.size(); i += step) {
    const double y = top + static_cast<double>(i) * height;
    if (y > area.bottom()) break;
    const bool begins_group = i > 0 ? rows_[i].group != rows_[i - 1].group : rows_[i].is_group();
    if (begins_group && height >= kMinParted) {
      painter.setPen(palette().color(QPalette::PlaceholderText));
      const int left = every == 1 ? 0 : area.right();  // not through labels that are taller than rows
      painter.drawLine(QPointF(left, std::floor(y)), QPointF(viewport()->width(), std::floor(y)));
    }
    if (i % every != 0) continue;
    const int left = kPartGap + (rows_[i].group.isEmpty() ? 0 : kIndent);
    const double label_height = every == 1 ? height : text_height;
    const QRectF box(left, y, area.width() - left - kPartGap, label_height);
    painter.setPen(palette().color(QPalette::WindowText));
    if (rows_[i].is_group())
      paint_triangle(painter, {kPartGap + 4.0, y + label_height / 2}, rows_[i].is_open);
    const QString count = rows_[i].is_group() ? QString(" (%1)").arg(rows_[i].rows.size()) : QString();
    // A rank's number, which comes first, is never cut.
    const int room = static_cast<int>(box.width()) - fontMetrics().horizontalAdvance(count);
    painter.drawText(box, Qt::AlignVCenter | Qt::AlignLeft | Qt::TextSingleLine,
                     fontMetrics().elidedText(rows_[i].label, Qt::ElideRight, room) + count);
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
  const QRect label(0, area.top(), area.left() - kPartGap, area.height());
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(label, Qt::AlignVCenter | Qt::AlignRight, "all rows");
}

void TimelineView::paint_marks(QPainter& painter) const {
  const QRect area = picture_area();
  painter.setClipRect(QRect(area.left(), 0, area.width(), viewport()->height()));
  if (chosen_) {
    QColor veil = palette().color(QPalette::Window);
    veil.setAlpha(150);
    const int begin = x_of(chosen_->begin_ns), end = x_of(chosen_->end_ns);
    painter.fillRect(QRect(area.left(), area.top(), begin - area.left(), area.height()), veil);
    painter.fillRect(QRect(end, area.top(), area.right() + 1 - end, area.height()), veil);
  }
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
    painter.setClipRect(area);
    painter.drawRect(QRectF(x - 2, top_of(cursor_->row) - 1, 4, row_height()));
  }
  painter.setClipping(false);
  if (!hasFocus()) return;
  painter.setPen(palette().color(QPalette::Highlight));
  painter.drawRect(area.adjusted(0, 0, -1, -1));
}

void TimelineView::paint_arrows(QPainter& painter) const {
  const Arrows found = arrows();
  if (found.others.empty() && found.chosen.empty()) return;
  painter.save();
  painter.setClipRect(picture_area());
  painter.setRenderHint(QPainter::Antialiasing);
  for (const DeviceLaunch* launch : found.others) paint_arrow(painter, *launch, false);
  for (const DeviceLaunch* launch : found.chosen) paint_arrow(painter, *launch, true);
  painter.restore();
}

// Paints an arrow from the middle of the thread's row to the near edge of the queue's, with an outline that
// is visible on all colours.
void TimelineView::paint_arrow(QPainter& painter, const DeviceLaunch& launch, bool is_chosen) const {
  const size_t from = row_of_profile_[launch.thread], to = row_of_profile_[launch.queue];
  const QPointF begin(x_of(launch.submit_ns) + 0.5, top_of(from) + row_height() / 2);
  const QPointF end(x_of(launch.start_ns) + 0.5, to > from ? top_of(to) : top_of(to) + row_height());
  const QPointF way = end - begin;
  const double length = std::max(std::hypot(way.x(), way.y()), 1.0);
  const QPointF along = way / length, across(-along.y(), along.x());
  const QPointF neck = end - along * kArrowHead;
  const QPolygonF head{{end, neck + across * kArrowHead / 2, neck - across * kArrowHead / 2}};
  const QColor ink = palette().color(is_chosen ? QPalette::Highlight : QPalette::Text);
  const double width = is_chosen ? 2 : 1;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(palette().color(QPalette::Base), width + 2));
  painter.drawLine(begin, neck);
  painter.drawPolygon(head);
  painter.setPen(QPen(ink, width));
  painter.setBrush(ink);
  painter.drawLine(begin, neck);
  painter.drawPolygon(head);
}

}  // namespace prof::viewer
