#include "viewer/findings/line_picture_view.h"

#include <fmt/format.h>

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <set>

#include "analysis/views/run/format_contention.h"
#include "analysis/views/run/line_pictures.h"
#include "analysis/words/numbers.h"
#include "viewer/document/colours.h"

namespace prof::viewer {

namespace {

constexpr size_t kBytes = 64;
constexpr size_t kMaxPictures = 4;
constexpr size_t kMaxRows = 16;
constexpr size_t kBytesPerTick = 8;
constexpr int kLabelLetters = 24;  // the limit of a thread's label
constexpr int kMinCell = 5;
constexpr int kRowsAround = 4;  // title, ruler, common bytes, and a gap
// Hues of threads, distinguishable on light and dark backgrounds.
constexpr int kHues[] = {210, 28, 130, 330, 48, 275, 180, 0};

QString title(const LinePicture& picture) {
  QString text = QString("line at offset %1").arg(picture.offset);
  if (picture.object != 0) text += QString(" of object %1").arg(picture.object);
  return text;
}

const char* does(char letter) {
  return letter == 'b' ? "reads and writes" : letter == 'w' ? "writes" : "reads";
}

const char* word_for(char letter) {
  return letter == 'b' ? "both" : letter == 'w' ? "writes" : "reads";
}

// Returns '=' for each byte that several threads use with at least one write, '-' for each that one thread
// uses.
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
  lines_ = pictures_.size();
  if (pictures_.size() > kMaxPictures) pictures_.resize(kMaxPictures);
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
  const int room = width() - label_width() - 3 * fontMetrics().averageCharWidth();  // followed by a "64"
  return std::clamp(room / static_cast<int>(kBytes), kMinCell, row_height());
}

size_t LinePictureView::rows_shown(size_t picture) const {
  return std::min(pictures_[picture].rows.size(), kMaxRows);
}

QString LinePictureView::rows_left_out(size_t picture) const {
  const size_t more = pictures_[picture].rows.size() - rows_shown(picture);
  return more == 0 ? QString()
                   : QString("and %1 more on this line; see the table")
                         .arg(QString::fromStdString(format_count(more, "thread")));
}

QString LinePictureView::lines_left_out() const {
  const size_t more = lines_ - pictures_.size();
  return more == 0 ? QString()
                   : QString("and %1 more of this data; see the table")
                         .arg(QString::fromStdString(format_count(more, "line")));
}

int LinePictureView::rows_of(size_t picture) const {
  return static_cast<int>(rows_shown(picture)) + kRowsAround + (rows_left_out(picture).isEmpty() ? 0 : 1);
}

int LinePictureView::top_of(size_t picture) const {
  int rows = 0;
  for (size_t before = 0; before < picture; ++before) rows += rows_of(before);
  return rows * row_height() + fontMetrics().averageCharWidth();
}

QRect LinePictureView::cell(size_t picture, size_t row, size_t byte) const {
  constexpr int kRowsAbove = 2;
  return {label_width() + static_cast<int>(byte) * cell_width(),
          top_of(picture) + (static_cast<int>(row) + kRowsAbove) * row_height(), cell_width(), row_height()};
}

QSize LinePictureView::minimumSizeHint() const {
  const int more = lines_left_out().isEmpty() ? 0 : row_height();
  const int height = pictures_.empty() ? row_height() : top_of(pictures_.size()) + more;
  return {label_width() + kMinCell * static_cast<int>(kBytes) + 3 * fontMetrics().averageCharWidth(), height};
}

QSize LinePictureView::sizeHint() const {
  constexpr int kCell = 7;  // wide enough for the text on 8 bytes
  return minimumSizeHint() + QSize((kCell - kMinCell) * static_cast<int>(kBytes), 0);
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
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(QRect(margin(), top_of(pictures_.size()), width() - margin(), row_height()),
                   Qt::AlignVCenter, lines_left_out());
}

void LinePictureView::paint_picture(QPainter& painter, size_t picture) const {
  const int top = top_of(picture);
  painter.setPen(palette().color(QPalette::WindowText));
  QFont bold = font();
  bold.setBold(true);
  painter.setFont(bold);
  const QRect line(margin(), top, width(), row_height());
  QRect taken;
  painter.drawText(line, Qt::AlignVCenter,
                   QString::fromStdString(std::string(name_of(record_->sharing))) + " sharing", &taken);
  painter.setFont(font());
  painter.drawText(line.adjusted(taken.width() + margin(), 0, 0, 0), Qt::AlignVCenter,
                   title(pictures_[picture]) + ": full color: written, pale: read");
  paint_ruler(painter, top + row_height());
  for (size_t row = 0; row < rows_shown(picture); ++row) paint_row(painter, picture, row);
  const QRect below = cell(picture, rows_shown(picture) + 1, 0);
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(QRect(margin(), below.top(), width() - margin(), below.height()), Qt::AlignVCenter,
                   rows_left_out(picture));
  paint_verdict(painter, picture);
}

void LinePictureView::paint_ruler(QPainter& painter, int top) const {
  painter.setPen(palette().color(QPalette::PlaceholderText));
  constexpr int kTick = 3;
  for (size_t byte = 0; byte <= kBytes; byte += kBytesPerTick) {
    const int x = label_width() + static_cast<int>(byte) * cell_width();
    const QRect label(x + 2, top - 1, cell_width() * static_cast<int>(kBytesPerTick), row_height());
    painter.drawText(label, Qt::AlignBottom | Qt::AlignLeft, QString::number(byte));
    painter.drawLine(x, top + row_height() - 2 * kTick, x, top + row_height() + 1);
  }
}

void LinePictureView::paint_row(QPainter& painter, size_t picture, size_t row) const {
  const LinePicture::Row& thread = pictures_[picture].rows[row];
  const QRect first = cell(picture, row, 0);
  painter.setPen(palette().color(QPalette::WindowText));
  const QString label = QString::fromStdString(thread_label(document_.database(), thread.profile));
  painter.drawText(QRect(margin(), first.top(), label_width(), first.height()), Qt::AlignVCenter,
                   fontMetrics().elidedText(label, Qt::ElideMiddle, label_width() - 2 * margin()));
  // The line itself, including its unused bytes.
  const QRect line = first.united(cell(picture, row, kBytes - 1)).adjusted(0, 2, 0, -2);
  painter.fillRect(line, palette().color(QPalette::Base));
  paint_uses(painter, picture, row);
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawRect(line);
}

// Adjacent bytes with the same use by the thread form one piece with a word in it. Pieces end at multiples of
// 8, where most fields begin.
void LinePictureView::paint_uses(QPainter& painter, size_t picture, size_t row) const {
  const LinePicture::Row& thread = pictures_[picture].rows[row];
  const QColor full = colour_of(thread.profile);
  QColor pale = full;
  pale.setAlphaF(0.35F);
  for (size_t byte = 0, end; byte < kBytes; byte = end) {
    const char letter = thread.bytes[byte];
    end = byte + 1;
    while (end % kBytesPerTick != 0 && thread.bytes[end] == letter) ++end;
    if (letter == '.') continue;
    const QRect piece = cell(picture, row, byte).united(cell(picture, row, end - 1)).adjusted(1, 3, 0, -2);
    painter.fillRect(piece, letter == 'r' ? pale : full);
    painter.setPen(letter == 'r' ? palette().color(QPalette::WindowText) : ink_on(full));
    for (const QString& word : {QString(word_for(letter)), QString(QChar(letter))}) {
      if (fontMetrics().horizontalAdvance(word) + 2 > piece.width()) continue;
      painter.drawText(piece, Qt::AlignCenter, word);
      break;
    }
  }
}

// Paints the bytes that distinguish true from false sharing.
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
      const std::string who = format_thread(document_.database(), thread.profile);
      if (thread.bytes[byte] == '.')
        return QString::fromStdString(
            fmt::format("no access of thread {} to byte {} of the line was recorded", who, byte));
      std::string part;
      for (const ContendedRecord::Side& side : record_->sides)
        if (side.profile == thread.profile && byte >= side.line_offset &&
            byte < side.line_offset + side.bytes)
          part = format_part(*record_, side) + ", ";
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
