#include "viewer/source/source_view.h"

#include <QFontDatabase>
#include <QHelpEvent>
#include <QPainter>
#include <QTextBlock>
#include <QToolTip>
#include <algorithm>
#include <cassert>
#include <tuple>

#include "viewer/document/colours.h"
#include "viewer/document/words.h"

namespace prof::viewer {

namespace {

constexpr int kGap = 8;

// The widget left of the text with costs and line numbers.
class Margin : public QWidget {
 public:
  explicit Margin(SourceView& view) : QWidget(&view), view_(view) {}

 protected:
  void paintEvent(QPaintEvent* event) override {
    QPainter painter(this);
    view_.paint_margin(painter, event->rect());
  }
  void mousePressEvent(QMouseEvent* event) override {
    view_.go_to(view_.line_at(static_cast<int>(event->position().y())));
  }
  bool event(QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* const help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), view_.tip_of(view_.line_at(help->pos().y())), this);
    return true;
  }

 private:
  SourceView& view_;
};

}  // namespace

SourceView::SourceView(Document& document, QWidget* parent)
    : QPlainTextEdit(parent),
      document_(document),
      highlighter_(new Highlighter(this->QPlainTextEdit::document())),
      margin_(new Margin(*this)) {
  setReadOnly(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  setLineWrapMode(NoWrap);
  setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  setTabStopDistance(fontMetrics().averageCharWidth() * 4);
  connect(this, &QPlainTextEdit::updateRequest, margin_, [this](const QRect&, int scrolled) {
    if (scrolled != 0) margin_->scroll(0, scrolled);
    margin_->update();
  });
  connect(this, &QPlainTextEdit::cursorPositionChanged, this, &SourceView::mark);
}

int SourceView::cost_width() const {
  return std::max(widest_, fontMetrics().horizontalAdvance("999 ms  100 %")) + kGap;
}

int SourceView::header_height() const {
  return fontMetrics().height() + 4;
}

int SourceView::margin_width() const {
  const int digits = std::max(4, static_cast<int>(QString::number(blockCount()).size()));
  return 2 * cost_width() + fontMetrics().horizontalAdvance('9') * digits + 2 * kGap;
}

void SourceView::show_text(const QString& text, Language language) {
  language_ = language;
  setPlainText(text.endsWith('\n') ? text.chopped(1) : text);  // without an empty line after the last one
  highlighter_->use(language, palette());
  find();
  fit_margin();
}

void SourceView::fit_margin() {
  setViewportMargins(margin_width(), header_height(), 0, 0);
  margin_->setGeometry(contentsRect().left(), contentsRect().top(), margin_width(), contentsRect().height());
}

QString SourceView::in_words(double value) const {
  const CallTree& tree = document_.tree();
  const size_t m = document_.metric();
  return value > 0 ? quantity(tree.metric(m), value) + "  " + percent(tree.share(value, m)) : QString();
}

Cost SourceView::cost_of(uint32_t line) const {
  const auto at = costs_.find(line);
  return at == costs_.end() ? Cost() : at->second;
}

QString SourceView::text_of(uint32_t line) const {
  return QPlainTextEdit::document()->findBlockByNumber(static_cast<int>(line) - 1).text();
}

void SourceView::show_costs(const std::vector<LineCost>& costs) {
  costs_.clear();
  hottest_.clear();
  most_ = 0;
  widest_ = 0;
  const auto width = [this](double value) { return fontMetrics().horizontalAdvance(in_words(value)); };
  assert(std::ranges::is_sorted(costs, {}, &LineCost::line));
  for (const LineCost& line : costs) {
    widest_ = std::max({widest_, width(line.cost.inclusive), width(line.cost.exclusive)});
    costs_[line.line] = line.cost;
    hottest_.push_back(line.line);
    most_ = std::max(most_, line.cost.exclusive);
  }
  std::stable_sort(hottest_.begin(), hottest_.end(), [this](uint32_t a, uint32_t b) {
    const Cost &x = costs_[a], &y = costs_[b];
    return std::tie(x.exclusive, x.inclusive) > std::tie(y.exclusive, y.inclusive);
  });
  fit_margin();
  margin_->update();
}

void SourceView::go_to(uint32_t line) {
  const QTextBlock block = QPlainTextEdit::document()->findBlockByNumber(static_cast<int>(line) - 1);
  if (line == 0 || !block.isValid()) return;
  setTextCursor(QTextCursor(block));
  centerCursor();
}

uint32_t SourceView::current_line() const {
  return static_cast<uint32_t>(textCursor().blockNumber() + 1);
}

void SourceView::go_to_hot(bool next) {
  if (hottest_.empty()) return;
  const auto here = std::find(hottest_.begin(), hottest_.end(), current_line());
  const auto count = static_cast<ptrdiff_t>(hottest_.size());
  ptrdiff_t at = next ? 0 : count - 1;
  if (here != hottest_.end()) at = (here - hottest_.begin() + (next ? 1 : count - 1)) % count;
  go_to(hottest_[static_cast<size_t>(at)]);
}

void SourceView::search(const QRegularExpression& expression) {
  expression_ = expression;
  find();
}

void SourceView::find() {
  found_.clear();
  if (!expression_.pattern().isEmpty())
    for (QTextBlock line = QPlainTextEdit::document()->begin(); line.isValid(); line = line.next()) {
      QRegularExpressionMatchIterator matches = expression_.globalMatch(line.text());
      while (matches.hasNext()) {
        const QRegularExpressionMatch match = matches.next();
        const int begin = line.position() + static_cast<int>(match.capturedStart());
        if (match.capturedLength() > 0)
          found_.push_back({begin, begin + static_cast<int>(match.capturedLength())});
      }
    }
  mark();
}

size_t SourceView::go_to_found(bool next) {
  if (found_.empty()) return 0;
  const QTextCursor here = textCursor();
  const auto at = next ? std::ranges::lower_bound(found_, here.selectionEnd(), {}, &Match::begin)
                       : std::ranges::lower_bound(found_, here.selectionStart(), {}, &Match::begin);
  const size_t count = found_.size();
  const auto behind = static_cast<size_t>(at - found_.begin());
  const size_t number = next ? behind % count : (behind + count - 1) % count;
  QTextCursor cursor(QPlainTextEdit::document());
  cursor.setPosition(found_[number].begin);
  cursor.setPosition(found_[number].end, QTextCursor::KeepAnchor);
  setTextCursor(cursor);
  centerCursor();
  return number + 1;
}

// Marks the cursor's line and the matches, up to a limited number.
void SourceView::mark() {
  QTextEdit::ExtraSelection line;
  QColor mark = palette().color(QPalette::Highlight);
  constexpr int kFaint = 60;
  mark.setAlpha(kFaint);
  line.format.setBackground(mark);
  line.format.setProperty(QTextFormat::FullWidthSelection, true);
  line.cursor = textCursor();
  line.cursor.clearSelection();
  QList<QTextEdit::ExtraSelection> marks{line};
  constexpr size_t kMaxMarked = 5000;
  for (size_t i = 0; i < std::min(found_.size(), kMaxMarked); ++i) {
    QTextEdit::ExtraSelection match;
    match.format.setBackground(found_colour(palette()));
    match.cursor = QTextCursor(QPlainTextEdit::document());
    match.cursor.setPosition(found_[i].begin);
    match.cursor.setPosition(found_[i].end, QTextCursor::KeepAnchor);
    marks << match;
  }
  setExtraSelections(marks);
}

void SourceView::keyPressEvent(QKeyEvent* event) {
  if (event->modifiers() == Qt::NoModifier && (event->key() == Qt::Key_N || event->key() == Qt::Key_P))
    return go_to_hot(event->key() == Qt::Key_N);
  QPlainTextEdit::keyPressEvent(event);
}

void SourceView::changeEvent(QEvent* event) {
  QPlainTextEdit::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  highlighter_->use(language_, palette());
  mark();
}

void SourceView::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  margin_->setGeometry(contentsRect().left(), contentsRect().top(), margin_width(), contentsRect().height());
}

uint32_t SourceView::line_at(int y) const {
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top() + header_height();
  for (; block.isValid(); block = block.next()) {
    const double height = blockBoundingRect(block).height();
    if (y >= top && y < top + height) return static_cast<uint32_t>(block.blockNumber() + 1);
    top += height;
  }
  return 0;
}

QString SourceView::tip_of(uint32_t line) const {
  const auto at = costs_.find(line);
  if (at == costs_.end()) return {};
  const CallTree& tree = document_.tree();
  const size_t m = document_.metric();
  const Metric& metric = tree.metric(m);
  const auto words = [&](double value) {
    return exact_quantity(metric, value) + (value > 0 ? ", " + percent(tree.share(value, m)) : QString());
  };
  return QString::fromStdString(metric.name) + " of line " + QString::number(line) +
         "\nself: " + words(at->second.exclusive) + "\nwith callees: " + words(at->second.inclusive);
}

void SourceView::paint_line(QPainter& painter, int top, int height, uint32_t line) const {
  const int width = cost_width();
  const auto at = costs_.find(line);
  if (at != costs_.end()) {
    const auto cell = [&](int left, double value) {
      painter.drawText(left, top, width - kGap, height, Qt::AlignRight | Qt::AlignVCenter, in_words(value));
    };
    if (most_ > 0 && at->second.exclusive > 0) {
      constexpr double kMinHeat = 0.1;
      const double heat = kMinHeat + (1 - kMinHeat) * at->second.exclusive / most_;
      painter.fillRect(width, top, width, height, heat_colour(palette(), heat));
    }
    painter.setPen(palette().color(QPalette::Text));
    cell(0, at->second.inclusive);
    cell(width, at->second.exclusive);
  }
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(2 * width, top, margin_width() - 2 * width - kGap, height,
                   Qt::AlignRight | Qt::AlignVCenter, QString::number(line));
}

void SourceView::paint_margin(QPainter& painter, const QRect& dirty) const {
  painter.fillRect(dirty, palette().color(QPalette::AlternateBase));
  painter.setFont(font());
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top() + header_height();
  for (; block.isValid() && top <= dirty.bottom(); block = block.next()) {
    const double height = blockBoundingRect(block).height();
    if (block.isVisible() && top + height >= dirty.top() && !document()->isEmpty())
      paint_line(painter, static_cast<int>(top), static_cast<int>(height),
                 static_cast<uint32_t>(block.blockNumber() + 1));
    top += height;
  }
  const int width = cost_width();
  painter.fillRect(0, 0, margin_width(), header_height(), palette().color(QPalette::Button));
  painter.setPen(palette().color(QPalette::ButtonText));
  painter.drawText(0, 0, width - kGap, header_height(), Qt::AlignRight | Qt::AlignVCenter, "with callees");
  painter.drawText(width, 0, width - kGap, header_height(), Qt::AlignRight | Qt::AlignVCenter, "self");
  painter.drawText(2 * width, 0, margin_width() - 2 * width - kGap, header_height(),
                   Qt::AlignRight | Qt::AlignVCenter, "line");
}

}  // namespace prof::viewer
