#pragma once
// The 64 bytes of contended cache lines, and which thread reads and writes which of them. There is one row
// for each thread, and one cell for each byte. Below the rows are the bytes that threads have in common.

#include <QWidget>
#include <vector>

#include "analysis/views/run/line_pictures.h"
#include "viewer/document/document.h"

namespace prof::viewer {

class LinePictureView : public QWidget {
  Q_OBJECT

 public:
  explicit LinePictureView(Document& document, QWidget* parent = nullptr);

  // nullptr: nothing is shown. The record must not change while it is shown.
  void show_record(const ContendedRecord* record);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  // Returns the rectangle of a byte in the row of a thread, in the widget; for tests and tooltips.
  QRect cell(size_t picture, size_t row, size_t byte) const;
  // Returns "and 2 more lines of these data; ...", or empty if no line is omitted.
  QString lines_left_out() const;
  // Returns "thread 0.1 (worker) writes counters[1].hits, byte 8 of the line", or empty if there is no cell.
  QString words_at(const QPoint& point) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  int margin() const;
  int row_height() const;
  int label_width() const;
  int cell_width() const;
  size_t rows_shown(size_t picture) const;
  // The same for threads.
  QString rows_left_out(size_t picture) const;
  // Returns the number of rows, including those around the threads'.
  int rows_of(size_t picture) const;
  int top_of(size_t picture) const;
  QColor colour_of(uint32_t profile) const;
  void paint_picture(QPainter& painter, size_t picture) const;
  void paint_ruler(QPainter& painter, int top) const;
  void paint_uses(QPainter& painter, size_t picture, size_t row) const;
  void paint_row(QPainter& painter, size_t picture, size_t row) const;
  void paint_verdict(QPainter& painter, size_t picture) const;

  Document& document_;
  const ContendedRecord* record_ = nullptr;
  std::vector<LinePicture> pictures_;
  size_t lines_ = 0;  // in the record
};

}  // namespace prof::viewer
