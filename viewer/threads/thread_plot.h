#pragma once
// A value of each thread as bars: in the order of the threads, by falling value, or how many threads have
// which. The threads that are chosen are full, others pale, outliers marked. A click chooses the threads of a
// bar, with Ctrl beside those that are chosen; a drag, those of several.

#include <QWidget>
#include <functional>
#include <vector>

#include "viewer/threads/thread_values.h"

namespace prof::viewer {

class ThreadPlot : public QWidget {
  Q_OBJECT

 public:
  enum class Order : uint8_t { ByThread, Sorted, Histogram };

  explicit ThreadPlot(Order order, QWidget* parent = nullptr);

  struct Bar {
    double height = 0;              // the value, or how many threads
    std::vector<uint32_t> threads;  // into the values
  };

  // `words` puts a value into words, with its unit; `exact` as well, with all digits; `name` a thread. Values
  // are not below 0.
  void show_values(std::vector<double> values, std::vector<bool> is_chosen,
                   std::function<QString(double)> words, std::function<QString(double)> exact,
                   std::function<QString(uint32_t)> name);

  const std::vector<Bar>& bars() const { return bars_; }
  // Where a bar is painted, as high as the plot.
  QRect place_of(size_t bar) const;
  QString words_at(const QPoint& point) const;

  QSize sizeHint() const override { return {400, 160}; }
  QSize minimumSizeHint() const override { return {120, 80}; }

 signals:
  // Rising; `adds`: to those that are chosen.
  void threads_asked(const std::vector<uint32_t>& threads, bool adds);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void make_bars();
  // Of the axis on the left, for a bar of this height.
  QString label_of(double height) const;
  void measure_labels();
  QRect area() const;
  // bars_.size(): none.
  size_t bar_at(int x) const;
  double highest() const;
  void ask(size_t first, size_t last, bool adds);
  QString title() const;
  void paint_axis(QPainter& painter) const;
  void paint_bars(QPainter& painter) const;

  const Order order_;
  std::vector<double> values_;
  std::vector<bool> is_chosen_;
  std::function<QString(double)> words_, exact_;
  std::function<QString(uint32_t)> name_;
  Distribution distribution_;
  std::vector<Bar> bars_;
  int label_width_ = 0;
  size_t pressed_ = SIZE_MAX, last_ = SIZE_MAX;  // bars of a drag; SIZE_MAX: none
  size_t cursor_ = 0;                            // that keys move
};

}  // namespace prof::viewer
