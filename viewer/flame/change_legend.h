#pragma once
// The legend for the colours of a flame graph of two runs.

#include <QWidget>

namespace prof::viewer {

class ChangeLegend : public QWidget {
  Q_OBJECT

 public:
  explicit ChangeLegend(QWidget* parent = nullptr);

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace prof::viewer
