#pragma once
// Plots one value of each thread as bars: in thread order, by descending value, or as a histogram. Selected
// threads are drawn solid and others pale; outliers are marked. A click selects the threads of a bar, Ctrl
// adds to the selection, and a drag selects those of several bars.

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
    double height = 0;              // the value, or the number of threads
    std::vector<uint32_t> threads;  // indices into the values
  };

  // `words` formats a value with its unit, `exact` with all digits, `name` a thread. Values must not be
  // negative.
  void show_values(std::vector<double> values, std::vector<bool> is_chosen,
                   std::function<QString(double)> words, std::function<QString(double)> exact,
                   std::function<QString(uint32_t)> name);

  const std::vector<Bar>& bars() const { return bars_; }
  // Returns where a bar is painted, as high as the plot.
  QRect place_of(size_t bar) const;
  QString words_at(const QPoint& point) const;

  QSize sizeHint() const override { return {400, 160}; }
  QSize minimumSizeHint() const override { return {120, 80}; }

 signals:
  // Ascending. `adds`: add to the selection.
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
  // Returns the label of the left axis for a bar of this height.
  QString label_of(double height) const;
  void measure_labels();
  QRect area() const;
  // Returns bars_.size() if there is none.
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
  size_t cursor_ = 0;                            // moved by keys
};

}  // namespace prof::viewer
