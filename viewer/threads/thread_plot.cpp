#include "viewer/threads/thread_plot.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "viewer/document/colours.h"

namespace prof::viewer {

namespace {

constexpr size_t kMaxBins = 24;
constexpr int kTicks = 2;

}  // namespace

ThreadPlot::ThreadPlot(Order order, QWidget* parent) : QWidget(parent), order_(order) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
}

void ThreadPlot::show_values(std::vector<double> values, std::vector<bool> is_chosen,
                             std::function<QString(double)> words, std::function<QString(double)> exact,
                             std::function<QString(uint32_t)> name) {
  values_ = std::move(values);
  is_chosen_ = std::move(is_chosen);
  words_ = std::move(words);
  exact_ = std::move(exact);
  name_ = std::move(name);
  distribution_ = distribution(values_);
  make_bars();
  measure_labels();
  cursor_ = std::min(cursor_, bars_.empty() ? 0 : bars_.size() - 1);
  update();
}

void ThreadPlot::make_bars() {
  bars_.clear();
  if (values_.empty()) return;
  if (order_ == Order::Histogram) {
    const bool is_one = distribution_.maximum <= distribution_.minimum;
    bars_.resize(is_one ? 1 : std::clamp<size_t>(values_.size(), 2, kMaxBins));
    for (uint32_t thread = 0; thread < values_.size(); ++thread) {
      Bar& bar = bars_[bin_of(values_[thread], distribution_, bars_.size())];
      ++bar.height;
      bar.threads.push_back(thread);
    }
    return;
  }
  std::vector<uint32_t> order(values_.size());
  std::iota(order.begin(), order.end(), 0u);
  if (order_ == Order::Sorted)
    std::ranges::stable_sort(order, std::greater(), [&](uint32_t thread) { return values_[thread]; });
  for (const uint32_t thread : order) bars_.push_back({values_[thread], {thread}});
}

QString ThreadPlot::label_of(double height) const {
  if (order_ == Order::Histogram) return QString::number(height, 'f', 0);
  return height > 0 ? words_(height) : "0";
}

void ThreadPlot::measure_labels() {
  constexpr int kMinLetters = 7;
  label_width_ = kMinLetters * fontMetrics().averageCharWidth();
  const double most = highest();
  for (int tick = 1; tick <= kTicks && most > 0; ++tick)
    label_width_ = std::max(label_width_, fontMetrics().horizontalAdvance(label_of(most * tick / kTicks)));
}

QRect ThreadPlot::area() const {
  const int letter = fontMetrics().averageCharWidth(), line = fontMetrics().height();
  return rect().adjusted(label_width_ + 2 * letter, 2 * line + letter, -letter, -line - letter);
}

QRect ThreadPlot::place_of(size_t bar) const {
  const QRect all = area();
  const auto count = static_cast<qint64>(bars_.size());
  const auto at = [&](size_t number) {
    return all.left() + static_cast<int>(all.width() * static_cast<qint64>(number) / count);
  };
  return {at(bar), all.top(), std::max(1, at(bar + 1) - at(bar)), all.height()};
}

size_t ThreadPlot::bar_at(int x) const {
  const QRect all = area();
  if (bars_.empty() || all.width() <= 0) return bars_.size();
  const int within = std::clamp(x - all.left(), 0, all.width() - 1);
  auto bar =
      static_cast<size_t>(static_cast<qint64>(within) * static_cast<qint64>(bars_.size()) / all.width());
  while (bar + 1 < bars_.size() && place_of(bar + 1).left() <= x) ++bar;
  return bar;
}

double ThreadPlot::highest() const {
  double most = 0;
  for (const Bar& bar : bars_) most = std::max(most, bar.height);
  return most;
}

QString ThreadPlot::title() const {
  if (order_ == Order::Histogram) return "number of threads by value";
  return order_ == Order::Sorted ? "threads by descending value" : "threads";
}

void ThreadPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), palette().color(QPalette::Base));
  paint_axis(painter);
  if (highest() > 0) paint_bars(painter);
  if (hasFocus()) {
    painter.setPen(palette().color(QPalette::Highlight));
    painter.drawRect(rect().adjusted(0, 0, -1, -1));
  }
}

void ThreadPlot::paint_axis(QPainter& painter) const {
  const QRect all = area();
  const int line = fontMetrics().height(), letter = fontMetrics().averageCharWidth();
  painter.setPen(palette().color(QPalette::Text));
  painter.drawText(QRect(all.left(), 0, all.width(), line + letter), Qt::AlignVCenter, title());
  painter.setPen(palette().color(QPalette::PlaceholderText));
  for (int tick = 0; tick <= kTicks && highest() > 0; ++tick) {
    const double value = highest() * tick / kTicks;
    const int y = all.bottom() - all.height() * tick / kTicks;
    const bool is_count = order_ == Order::Histogram;
    if (is_count && value != std::floor(value)) continue;  // there are no fractional threads
    painter.drawLine(all.left() - letter / 2, y, all.left(), y);
    painter.drawText(QRect(0, y - line / 2, all.left() - letter, line), Qt::AlignRight | Qt::AlignVCenter,
                     label_of(value));
  }
  painter.drawLine(all.bottomLeft(), all.bottomRight());
  if (bars_.empty()) return;
  const bool is_count = order_ == Order::Histogram;
  const QRect below(all.left(), all.bottom() + 2, all.width(), line);
  const auto label = [&](const QString& text, Qt::Alignment where) {
    painter.drawText(below, where, fontMetrics().elidedText(text, Qt::ElideRight, all.width() / 2 - letter));
  };
  // If both ends have the same text, they are shown with all digits.
  const bool are_alike = words_(distribution_.minimum) == words_(distribution_.maximum);
  const auto& put = are_alike && bars_.size() > 1 ? exact_ : words_;
  label(is_count ? put(distribution_.minimum) : name_(bars_.front().threads[0]), Qt::AlignLeft);
  if (bars_.size() > 1)
    label(is_count ? put(distribution_.maximum) : name_(bars_.back().threads[0]), Qt::AlignRight);
}

void ThreadPlot::paint_bars(QPainter& painter) const {
  const QRect all = area();
  const QColor full = palette().color(QPalette::Highlight);
  QColor pale = full;
  pale.setAlphaF(0.35F);
  const QColor outlier = QColor::fromHsl(20, 190, is_dark(palette()) ? 140 : 115);
  QColor pale_outlier = outlier;
  pale_outlier.setAlphaF(0.45F);
  constexpr size_t kWideEnough = 4;  // for gaps between all bars, or none
  const bool has_gaps = static_cast<size_t>(all.width()) / std::max<size_t>(bars_.size(), 1) >= kWideEnough;
  for (size_t b = 0; b < bars_.size(); ++b) {
    const Bar& bar = bars_[b];
    const bool is_out = std::ranges::any_of(
        bar.threads, [&](uint32_t thread) { return distribution_.is_outlier(values_[thread]); });
    const bool is_full =
        std::ranges::any_of(bar.threads, [&](uint32_t thread) { return is_chosen_[thread]; });
    QRect place = place_of(b);
    if (has_gaps) place.adjust(1, 0, -1, 0);
    constexpr int kWidest = 80;
    if (place.width() > kWidest)
      place.adjust((place.width() - kWidest) / 2, 0, (kWidest - place.width()) / 2, 0);
    const int height = bar.height > 0 ? std::max(1, qRound(all.height() * bar.height / highest())) : 0;
    place.setTop(all.bottom() - height);
    painter.fillRect(place, is_out ? (is_full ? outlier : pale_outlier) : (is_full ? full : pale));
    const bool is_marked =
        (hasFocus() && b == cursor_) ||
        (pressed_ != SIZE_MAX && b >= std::min(pressed_, last_) && b <= std::max(pressed_, last_));
    if (!is_marked) continue;
    QColor veil = palette().color(QPalette::Text);
    veil.setAlphaF(0.15F);
    painter.fillRect(place_of(b), veil);
  }
}

QString ThreadPlot::words_at(const QPoint& point) const {
  const size_t at = bar_at(point.x());
  if (at >= bars_.size() || !area().adjusted(0, 0, 1, 1).contains(point)) return {};
  const Bar& bar = bars_[at];
  if (order_ != Order::Histogram) {
    const double value = values_[bar.threads[0]];
    return "thread " + name_(bar.threads[0]) + ": " + exact_(value) +
           (distribution_.is_outlier(value) ? ", outlier" : "");
  }
  QStringList names;
  constexpr size_t kNamed = 8;
  for (size_t i = 0; i < std::min(kNamed, bar.threads.size()); ++i) names << name_(bar.threads[i]);
  if (bar.threads.size() > kNamed) names << "...";
  const double width = (distribution_.maximum - distribution_.minimum) / static_cast<double>(bars_.size());
  const double low = distribution_.minimum + width * static_cast<double>(at);
  return QString("%1 with %2 to %3").arg(bar.threads.size()).arg(exact_(low), exact_(low + width)) +
         (names.isEmpty() ? "" : ": " + names.join(", "));
}

void ThreadPlot::ask(size_t first, size_t last, bool adds) {
  std::vector<uint32_t> threads;
  for (size_t b = first; b <= last; ++b)
    threads.insert(threads.end(), bars_[b].threads.begin(), bars_[b].threads.end());
  std::ranges::sort(threads);
  if (!threads.empty()) emit threads_asked(threads, adds);
}

void ThreadPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || bars_.empty()) return;
  pressed_ = last_ = cursor_ = bar_at(event->pos().x());
  update();
}

void ThreadPlot::mouseMoveEvent(QMouseEvent* event) {
  if (pressed_ == SIZE_MAX) return;
  last_ = bar_at(event->pos().x());
  update();
}

void ThreadPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (pressed_ == SIZE_MAX) return;
  const size_t first = std::min(pressed_, last_), last = std::max(pressed_, last_);
  pressed_ = last_ = SIZE_MAX;
  update();
  if (last < bars_.size()) ask(first, last, event->modifiers().testFlag(Qt::ControlModifier));
}

void ThreadPlot::keyPressEvent(QKeyEvent* event) {
  if (bars_.empty()) return QWidget::keyPressEvent(event);
  switch (event->key()) {
    case Qt::Key_Left:
      cursor_ -= cursor_ > 0;
      break;
    case Qt::Key_Right:
      cursor_ += cursor_ + 1 < bars_.size();
      break;
    case Qt::Key_Home:
      cursor_ = 0;
      break;
    case Qt::Key_End:
      cursor_ = bars_.size() - 1;
      break;
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space:
      ask(cursor_, cursor_, event->modifiers().testFlag(Qt::ControlModifier));
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  update();
}

bool ThreadPlot::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), this);
  return true;
}

}  // namespace prof::viewer
