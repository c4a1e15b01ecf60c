#include "viewer/flame/flame_widget.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "analysis/views/compare/format_comparison.h"
#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/tables/function_menu.h"

namespace prof::viewer {

namespace {

constexpr double kMinPixels = 2;  // for a frame that is shown alone
constexpr int kTextMargin = 3;
constexpr int kMinTextWidth = 24;

}  // namespace

FlameWidget::FlameWidget(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
  setFocusPolicy(Qt::StrongFocus);
}

int FlameWidget::row_height() const {
  return fontMetrics().height() + 4;
}

void FlameWidget::clear_tree() {
  if (rows_) zoomed_path_ = path_of(zoomed_);
  rows_.reset();
  layout_ = {};
  looks_.clear();
  found_.clear();
  zooms_.clear();
  zoomed_ = chosen_ = kNone;
}

void FlameWidget::show_tree(Reading reading) {
  rows_ = make_rows(reading, document_.tree());
  looks_.assign(document_.tree().frames.size(), {});
  zoomed_ = row_with_path(zoomed_path_);
  zoomed_path_.clear();
  emit zoomed_to(zoomed_);
  lay_out();
}

void FlameWidget::take_metric() {
  if (rows_) lay_out();
}

size_t FlameWidget::weighed() const {
  const CallTree& tree = document_.tree();
  return are_widths_before_ && tree.compared ? tree.compared->before(document_.metric())
                                             : tree.weighed(document_.metric());
}

void FlameWidget::set_widths_before(bool are_before) {
  are_widths_before_ = are_before;
  take_metric();
}

double FlameWidget::change_of_row(uint32_t row) const {
  const Compared& compared = *document_.tree().compared;
  const size_t m = document_.metric();
  return Change{rows_->weight(row, compared.before(m)), rows_->weight(row, compared.after(m))}.share();
}

void FlameWidget::lay_out() {
  if (!rows_ || document_.tree().metrics() == 0) {
    layout_ = {};
  } else {
    layout_ = lay_out_flames(*rows_, weighed(), zoomed_, kMinPixels / std::max(width(), 1));
  }
  setMinimumHeight(static_cast<int>(layout_.levels.size()) * row_height() + 1);
  update();
}

void FlameWidget::set_found(std::vector<bool> frames) {
  found_ = std::move(frames);
  update();
}

QStringList FlameWidget::path_of(uint32_t row) const {
  QStringList path;
  for (; row != kNone; row = rows_->parent(row)) path.prepend(look_of(rows_->frame(row)).name);
  return path;
}

uint32_t FlameWidget::row_with_path(const QStringList& path) const {
  uint32_t row = kNone;
  for (const QString& name : path) {
    const std::vector<uint32_t> below = row == kNone ? rows_->roots() : rows_->children(row);
    const auto at = std::find_if(below.begin(), below.end(),
                                 [&](uint32_t child) { return look_of(rows_->frame(child)).name == name; });
    if (at == below.end()) return kNone;
    row = *at;
  }
  return row;
}

void FlameWidget::zoom(uint32_t row) {
  if (!rows_ || row == zoomed_) return;
  zooms_.push_back(zoomed_);
  zoomed_ = row;
  chosen_ = row;
  lay_out();
  emit zoomed_to(row);
}

void FlameWidget::zoom_back() {
  if (zooms_.empty()) return;
  zoomed_ = zooms_.back();
  zooms_.pop_back();
  lay_out();
  emit zoomed_to(zoomed_);
}

void FlameWidget::choose(uint32_t row) {
  chosen_ = row;
  update();
  emit chosen_at(place_of(row));
}

void FlameWidget::choose_function(uint32_t frame) {
  if (!rows_) return;
  std::vector<bool> wanted(document_.tree().frames.size(), false);
  wanted[frame] = true;
  const std::vector<uint32_t> all = rows_->rows_of(wanted);
  const size_t metric = weighed();
  const auto heaviest = std::max_element(all.begin(), all.end(), [&](uint32_t a, uint32_t b) {
    return rows_->weight(a, metric) < rows_->weight(b, metric);
  });
  if (heaviest == all.end()) return;
  if (place_of(*heaviest).width() < kMinTextWidth) zoom(*heaviest);
  choose(*heaviest);
}

void FlameWidget::ask_for_source() {
  if (!rows_ || chosen_ == kNone) return;
  const SourceLocation location =
      rows_->location(chosen_, placed_by(document_.tree(), *rows_, chosen_, document_.metric()));
  if (location.known()) document_.ask_for_source(location.file, location.line);
}

QString FlameWidget::text_of_chosen() const {
  if (!rows_ || document_.tree().metrics() == 0) return {};
  const CallTree& tree = document_.tree();
  const size_t m = weighed();
  const Metric& metric = tree.metric(m);
  QString text;
  for (uint32_t row = chosen_; row != kNone; row = rows_->parent(row)) {
    const double weight = rows_->weight(row, m);
    text.prepend(look_of(rows_->frame(row)).name + "\t" + quantity(metric, weight) + "\t" +
                 percent(tree.share(weight, m)) + "\n");
  }
  return "function\t" + QString::fromStdString(metric.name) + "\tshare\nall\t" +
         quantity(metric, tree.totals[m]) + "\t" + percent(1) + "\n" + text;
}

// Opens the menu of the frame below the pointer or, by a key, of the selected one.
void FlameWidget::contextMenuEvent(QContextMenuEvent* event) {
  if (!rows_) return;
  if (event->reason() == QContextMenuEvent::Mouse)
    if (const FlameBox* const box = box_at(event->pos()); box && box->merged == 0) choose(box->row);
  if (chosen_ == kNone) return;
  const uint32_t row = chosen_, frame = rows_->frame(row);
  QMenu menu;
  menu.addAction("Source\tCtrl+Enter", this, &FlameWidget::ask_for_source);
  menu.addAction("Instructions", this, [this, frame] {
    document_.ask_for_page("source");
    document_.ask_for_function(frame);
  });
  menu.addAction("Zoom into\tEnter", this, [this, row] { zoom(row); });
  menu.addAction("Zoom back\tBackspace", this, &FlameWidget::zoom_back)->setEnabled(!zooms_.empty());
  menu.addSeparator();
  add_pages_of_function(
      menu, document_, [this, frame] { document_.ask_for_function(frame); }, "flame-graph");
  menu.addSeparator();
  menu.addAction("Copy name", this,
                 [this, frame] { QApplication::clipboard()->setText(look_of(frame).name); });
  const QRect place = place_of(row);
  menu.exec(event->reason() == QContextMenuEvent::Mouse ? event->globalPos()
                                                        : mapToGlobal(place.bottomLeft()));
}

void FlameWidget::show_tip_of_chosen() {
  for (const std::vector<FlameBox>& level : layout_.levels)
    for (const FlameBox& box : level)
      if (box.row == chosen_ && box.merged == 0)
        return QToolTip::showText(mapToGlobal(place_of(chosen_).bottomLeft()), tip_of(box), this);
}

QRect FlameWidget::place_of(size_t level, const FlameBox& box) const {
  const int left = static_cast<int>(std::lround(box.begin * width()));
  const int right = static_cast<int>(std::lround(box.end * width()));
  return {left, static_cast<int>(level) * row_height(), right - left, row_height()};
}

QRect FlameWidget::place_of(uint32_t row) const {
  for (size_t level = 0; level < layout_.levels.size(); ++level)
    for (const FlameBox& box : layout_.levels[level])
      if (box.row == row && box.merged == 0) return place_of(level, box);
  return {};
}

const FlameBox* FlameWidget::box_at(const QPoint& at) const {
  const auto level = static_cast<size_t>(std::max(at.y(), 0) / row_height());
  if (level >= layout_.levels.size()) return nullptr;
  for (const FlameBox& box : layout_.levels[level])
    if (place_of(level, box).contains(at)) return &box;
  return nullptr;
}

const FlameWidget::Look& FlameWidget::look_of(uint32_t frame) const {
  std::optional<Look>& look = looks_[frame];
  if (look) return *look;
  const CallTree& tree = document_.tree();
  const std::string name = frame_name(*tree.database, tree.frames[frame]);
  const bool is_entry = tree.frames[frame].kind == FrameKind::Entry;
  constexpr QRgb kGrey = 0xffb8b8b8;
  look = Look{QString::fromStdString(name), is_entry ? kGrey : colour_of_function(name)};
  return *look;
}

QString FlameWidget::label_of(const FlameBox& box) const {
  if (box.merged > 0) return QString("%L1 more").arg(box.merged);
  if (box.row == kNone) return "all: " + quantity(document_.tree().metric(weighed()), box.weight);
  return look_of(rows_->frame(box.row)).name + (rows_->is_inlined(box.row) ? " [inlined]" : "");
}

QColor FlameWidget::colour_of(const FlameBox& box) const {
  return document_.tree().compared ? change_colour_of_function(change_of_row(box.row))
                                   : QColor(look_of(rows_->frame(box.row)).colour);
}

void FlameWidget::paint_box(QPainter& painter, const QRect& place, const FlameBox& box) const {
  const bool is_function = box.merged == 0 && box.row != kNone;
  QColor colour = is_function ? colour_of(box) : palette().color(QPalette::Button);
  QColor ink = is_function ? ink_on_function() : palette().color(QPalette::Text);
  if (!found_.empty() && !(is_function && found_[rows_->frame(box.row)])) {
    colour = palette().color(QPalette::Button);
    ink = palette().color(QPalette::PlaceholderText);
  }
  const bool is_chosen = is_function && box.row == chosen_;
  painter.fillRect(place.adjusted(0, 0, place.width() > 2 ? -1 : 0, -1), colour);
  if (is_chosen) {
    painter.setPen(QPen(palette().color(QPalette::Text), 2));
    painter.drawRect(place.adjusted(1, 1, -2, -2));
  }
  if (place.width() < kMinTextWidth) return;
  painter.setPen(ink);
  const QRect text = place.adjusted(kTextMargin, 0, -kTextMargin, 0);
  painter.drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                   fitted_name(label_of(box), fontMetrics(), text.width()));
}

void FlameWidget::paintEvent(QPaintEvent* event) {
  QPainter painter(this);
  painter.fillRect(event->rect(), palette().color(QPalette::Base));
  if (layout_.levels.empty()) {
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.drawText(rect(), Qt::AlignCenter,
                     document_.tree().compared
                         ? "This metric was not measured in this run for the selected threads."
                         : "This metric was not measured for the selected threads.");
    return;
  }
  const int height = row_height();
  const auto first = static_cast<size_t>(std::max(event->rect().top() / height, 0));
  const auto last = static_cast<size_t>(std::max(event->rect().bottom() / height, 0));
  for (size_t level = first; level <= last && level < layout_.levels.size(); ++level)
    for (const FlameBox& box : layout_.levels[level]) paint_box(painter, place_of(level, box), box);
}

void FlameWidget::resizeEvent(QResizeEvent* event) {
  if (event->oldSize().width() != event->size().width()) lay_out();
}

void FlameWidget::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return event->ignore();
  const FlameBox* const box = box_at(event->pos());
  if (!box || box->merged > 0) return;
  const uint32_t row = box->row;
  zoom(row);
  choose(row);
}

// The first press has zoomed; this selects the frame that was under it then.
void FlameWidget::mouseDoubleClickEvent(QMouseEvent*) {
  ask_for_source();
}

void FlameWidget::move_along(int step) {
  for (const std::vector<FlameBox>& level : layout_.levels) {
    for (size_t i = 0; i < level.size(); ++i) {
      if (level[i].merged > 0 || level[i].row != chosen_) continue;
      const auto next = static_cast<ptrdiff_t>(i) + step;
      if (next < 0 || next >= static_cast<ptrdiff_t>(level.size())) return;
      const FlameBox& box = level[static_cast<size_t>(next)];
      if (box.merged == 0) choose(box.row);
      return;
    }
  }
}

// Moves to the most expensive row below the selected one.
void FlameWidget::move_down() {
  const FlameBox* heaviest = nullptr;
  for (const std::vector<FlameBox>& level : layout_.levels)
    for (const FlameBox& box : level)
      if (box.row != kNone && rows_->parent(box.row) == chosen_ && (!heaviest || box.width > heaviest->width))
        heaviest = &box;
  if (heaviest) choose(heaviest->row);
}

void FlameWidget::keyPressEvent(QKeyEvent* event) {
  if (!rows_) return event->ignore();
  switch (event->key()) {
    case Qt::Key_Left:
      return move_along(-1);
    case Qt::Key_Right:
      return move_along(1);
    case Qt::Key_Up:
      if (chosen_ != kNone) choose(rows_->parent(chosen_));
      return;
    case Qt::Key_Down:
      return move_down();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return event->modifiers() & Qt::ControlModifier ? ask_for_source() : zoom(chosen_);
    case Qt::Key_Backspace:
    case Qt::Key_Escape:
      return zoom_back();
    case Qt::Key_Home:
      return zoom(kNone);
    case Qt::Key_Space:
      return show_tip_of_chosen();
    default:
      event->ignore();
  }
}

QString FlameWidget::change_tip(uint32_t row) const {
  const CallTree& tree = document_.tree();
  const size_t m = document_.metric();
  std::vector<Cost> costs;
  for (size_t at = 0; at < tree.metrics(); ++at) costs.push_back(rows_->cost(row, at));
  const auto words = [&](bool is_inclusive) {
    return QString::fromStdString(
        format_change(tree.metric(m), change_of(*tree.compared, costs, m, is_inclusive)));
  };
  const Presence presence = presence_of(*tree.compared, costs);
  const QString there = presence == Presence::OnlyAfter    ? "\nnot present before"
                        : presence == Presence::OnlyBefore ? "\nnot present after"
                                                           : "";
  return "\nwith callees: " + words(true) + "\nself: " + words(false) + there;
}

QString FlameWidget::tip_of(const FlameBox& box) const {
  const CallTree& tree = document_.tree();
  const size_t m = weighed();
  const Metric& metric = tree.metric(m);
  const QString name = QString::fromStdString(metric.name);
  QString text = label_of(box) + "\n" + name + ": " + exact_quantity(metric, box.weight) + ", " +
                 percent(tree.share(box.weight, m)) + " of " + exact_quantity(metric, tree.totals[m]);
  if (box.row == kNone) return text;
  text += tree.compared ? change_tip(box.row)
                        : "\nself: " + exact_quantity(metric, rows_->cost(box.row, m).exclusive);
  const SourceLocation location =
      rows_->location(box.row, placed_by(tree, *rows_, box.row, document_.metric()));
  if (location.known())
    text += "\n" + QString::fromStdString(tree.database->files[location.file].path) + ":" +
            QString::number(location.line);
  return text;
}

bool FlameWidget::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* const help = static_cast<QHelpEvent*>(event);
    const FlameBox* const box = rows_ ? box_at(help->pos()) : nullptr;
    if (box)
      QToolTip::showText(help->globalPos(), tip_of(*box), this);
    else
      QToolTip::hideText();
    return true;
  }
  return QWidget::event(event);
}

}  // namespace prof::viewer
