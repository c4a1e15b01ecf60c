#include "viewer/findings/line_picture_view.h"

#include <fmt/format.h>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <set>

#include "viewer/document/colours.h"

namespace prof::viewer {

namespace {

constexpr size_t kBytes = 64;
constexpr size_t kMostPictures = 4;
constexpr size_t kMostRows = 16;
constexpr size_t kBytesPerTick = 8;
constexpr int kLabelLetters = 24;  // that a thread's label may take
constexpr int kLeastCell = 6;
constexpr int kRowsAround = 4;  // title, ruler, common bytes, and a gap
// Of threads; told apart on light and dark grounds.
constexpr int kHues[] = {210, 28, 130, 330, 48, 275, 180, 0};

QString title(const LinePicture& picture) {
  QString text = QString("line at offset %1").arg(picture.offset);
  if (picture.object != 0) text += QString(" of object %1").arg(picture.object);
  return text;
}

const char* does(char letter) {
  return letter == 'b' ? "reads and writes" : letter == 'w' ? "writes" : "reads";
}

// Which of the bytes several threads use, at least one of them writing: '=' there, '-' where one uses it.
std::string common_bytes(const LinePicture& picture) {
  std::string common(kBytes, '.');
  for (size_t byte = 0; byte < kBytes; ++byte) {
    size_t users = 0;
    bool is_written = false;
    for (const LinePicture::Row& row : picture.rows) {
      users += row.bytes[byte] != '.';
      is_written |= row.bytes[byte] == 'w' || row.bytes[byte] == 'b';
    }
    if (users > 0) common[byte] = users > 1 && is_written ? '=' : '-';
  }
  return common;
}

}  // namespace

LinePictureView::LinePictureView(Document& document, QWidget* parent) : QWidget(parent), document_(document) {
  setObjectName("line_picture");
}

void LinePictureView::show_record(const ContendedRecord* record) {
  record_ = record;
  pictures_ = record ? line_pictures(*record) : std::vector<LinePicture>();
  if (pictures_.size() > kMostPictures) pictures_.resize(kMostPictures);
  updateGeometry();
  setMinimumHeight(minimumSizeHint().height());
  update();
}

int LinePictureView::margin() const {
  return fontMetrics().averageCharWidth();
}

int LinePictureView::row_height() const {
  return fontMetrics().height() + 4;
}

int LinePictureView::label_width() const {
  int widest = fontMetrics().horizontalAdvance("in common");
  for (const LinePicture& picture : pictures_)
    for (const LinePicture::Row& row : picture.rows)
      widest = std::max(widest, fontMetrics().horizontalAdvance(
                                    QString::fromStdString(thread_label(document_.database(), row.profile))));
  const int letter = fontMetrics().averageCharWidth();
  return std::min(widest, kLabelLetters * letter) + margin() + 2 * letter;
}

int LinePictureView::cell_width() const {
  const int room = width() - label_width() - 2 * fontMetrics().averageCharWidth();
  return std::clamp(room / static_cast<int>(kBytes), kLeastCell, row_height());
}

size_t LinePictureView::rows_shown(size_t picture) const {
  return std::min(pictures_[picture].rows.size(), kMostRows);
}

int LinePictureView::top_of(size_t picture) const {
  int rows = 0;
  for (size_t before = 0; before < picture; ++before)
    rows += static_cast<int>(rows_shown(before)) + kRowsAround;
  return rows * row_height() + fontMetrics().averageCharWidth();
}

QRect LinePictureView::cell(size_t picture, size_t row, size_t byte) const {
  constexpr int kRowsAbove = 2;
  return {label_width() + static_cast<int>(byte) * cell_width(),
          top_of(picture) + (static_cast<int>(row) + kRowsAbove) * row_height(), cell_width(), row_height()};
}

QSize LinePictureView::minimumSizeHint() const {
  const int height = pictures_.empty() ? row_height() : top_of(pictures_.size());
  return {label_width() + kLeastCell * static_cast<int>(kBytes) + 2 * fontMetrics().averageCharWidth(),
          height};
}

QSize LinePictureView::sizeHint() const {
  constexpr int kCell = 9;
  return {label_width() + kCell * static_cast<int>(kBytes), minimumSizeHint().height()};
}

QColor LinePictureView::colour_of(uint32_t profile) const {
  std::set<uint32_t> profiles;
  for (const LinePicture& picture : pictures_)
    for (const LinePicture::Row& row : picture.rows) profiles.insert(row.profile);
  const auto at = std::distance(profiles.begin(), profiles.find(profile));
  return QColor::fromHsl(kHues[static_cast<size_t>(at) % std::size(kHues)], 170,
                         is_dark(palette()) ? 130 : 110);
}

void LinePictureView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  for (size_t picture = 0; picture < pictures_.size(); ++picture) paint_picture(painter, picture);
}

void LinePictureView::paint_picture(QPainter& painter, size_t picture) const {
  const int top = top_of(picture);
  painter.setPen(palette().color(QPalette::WindowText));
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  const QRect line(margin(), top, width(), row_height());
  QRect taken;
  painter.drawText(line, Qt::AlignVCenter, QString::fromStdString(record_->sharing) + " sharing", &taken);
  painter.setFont(font());
  painter.drawText(line.adjusted(taken.width() + margin(), 0, 0, 0), Qt::AlignVCenter,
                   title(pictures_[picture]) + ":  r read   w written   b both");
  paint_ruler(painter, top + row_height());
  for (size_t row = 0; row < rows_shown(picture); ++row) paint_row(painter, picture, row);
  paint_verdict(painter, picture);
}

void LinePictureView::paint_ruler(QPainter& painter, int top) const {
  painter.setPen(palette().color(QPalette::PlaceholderText));
  for (size_t byte = 0; byte < kBytes; byte += kBytesPerTick) {
    const int x = label_width() + static_cast<int>(byte) * cell_width();
    painter.drawText(QRect(x, top, cell_width() * static_cast<int>(kBytesPerTick), row_height()),
                     Qt::AlignBottom | Qt::AlignLeft, QString::number(byte));
  }
}

void LinePictureView::paint_row(QPainter& painter, size_t picture, size_t row) const {
  const LinePicture::Row& thread = pictures_[picture].rows[row];
  const QRect first = cell(picture, row, 0);
  painter.setPen(palette().color(QPalette::WindowText));
  const QString label = QString::fromStdString(thread_label(document_.database(), thread.profile));
  painter.drawText(QRect(margin(), first.top(), label_width(), first.height()), Qt::AlignVCenter,
                   fontMetrics().elidedText(label, Qt::ElideMiddle, label_width() - 2 * margin()));
  const QColor colour = colour_of(thread.profile);
  QColor pale = colour;
  pale.setAlphaF(0.35F);
  for (size_t byte = 0; byte < kBytes; ++byte) {
    const QRect at = cell(picture, row, byte).adjusted(0, 2, 0, -2);
    const char letter = thread.bytes[byte];
    // A gap at each 8 bytes, where most fields begin.
    const QRect inner = at.adjusted(byte % kBytesPerTick == 0 ? 1 : 0, 0, 0, 0);
    if (letter == '.') {
      painter.fillRect(inner, palette().color(QPalette::AlternateBase));
      continue;
    }
    painter.fillRect(inner, letter == 'r' ? pale : colour);
    if (fontMetrics().averageCharWidth() > cell_width()) continue;
    painter.setPen(letter == 'r' ? palette().color(QPalette::WindowText) : ink_on(colour));
    painter.drawText(at, Qt::AlignCenter, QString(QChar(letter)));
  }
}

// What makes the difference between true and false sharing.
void LinePictureView::paint_verdict(QPainter& painter, size_t picture) const {
  const std::string common = common_bytes(pictures_[picture]);
  const QRect first = cell(picture, rows_shown(picture), 0);
  const bool is_true = common.find('=') != std::string::npos;
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(QRect(margin(), first.top(), label_width(), first.height()), Qt::AlignVCenter,
                   "in common");
  const QColor mark = QColor::fromHsl(0, 180, is_dark(palette()) ? 150 : 110);
  for (size_t byte = 0; byte < kBytes; ++byte) {
    if (common[byte] != '=') continue;
    painter.fillRect(cell(picture, rows_shown(picture), byte).adjusted(0, 4, 0, -4), mark);
  }
  if (is_true) return;
  painter.drawText(QRect(first.left(), first.top(), width() - first.left(), first.height()), Qt::AlignVCenter,
                   "nothing: only the line");
}

QString LinePictureView::words_at(const QPoint& point) const {
  for (size_t picture = 0; record_ && picture < pictures_.size(); ++picture) {
    for (size_t row = 0; row < rows_shown(picture); ++row) {
      const QRect line = cell(picture, row, 0).united(cell(picture, row, kBytes - 1));
      if (!line.contains(point)) continue;
      const auto byte = static_cast<size_t>((point.x() - line.left()) / cell_width());
      const LinePicture::Row& thread = pictures_[picture].rows[row];
      const std::string who = thread_label(document_.database(), thread.profile);
      if (thread.bytes[byte] == '.')
        return QString::fromStdString(
            fmt::format("thread {} was not seen to use byte {} of the line", who, byte));
      std::string part;
      for (const ContendedRecord::Side& side : record_->sides)
        if (side.profile == thread.profile && byte >= side.line_offset &&
            byte < side.line_offset + side.bytes)
          part = part_in_words(*record_, side) + ", ";
      return QString::fromStdString(
          fmt::format("thread {} {} {}byte {} of the line", who, does(thread.bytes[byte]), part, byte));
    }
  }
  return {};
}

bool LinePictureView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), words_at(help->pos()), this);
  return true;
}

}  // namespace prof::viewer
