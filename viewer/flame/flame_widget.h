#pragma once
// Paints a flame graph with the outermost frames on top, and handles mouse and keys.

#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/document/document.h"
#include "viewer/flame/flame_layout.h"

namespace prof::viewer {

class FlameWidget : public QWidget {
  Q_OBJECT

 public:
  explicit FlameWidget(Document& document, QWidget* parent = nullptr);

  // Shows the document's current tree. Restores the zoom if its path still exists.
  void show_tree(Reading reading);
  // Must be called before the tree is destroyed.
  void clear_tree();
  bool is_filled() const { return rows_ != nullptr; }
  void take_metric();
  // For two compared runs: frames have the widths of the run before, else those of the run after.
  void set_widths_before(bool are_before);
  size_t weighed() const;  // the position of the metric that determines widths
  // Returns how a row changed between the runs, relative to the larger cost: -1..1.
  double change_of_row(uint32_t row) const;
  void set_found(std::vector<bool> frames);

  void zoom(uint32_t row);  // kNone: resets the zoom
  void zoom_back();
  uint32_t zoomed() const { return zoomed_; }
  // Selects the function where its cost is highest, and zooms if it would be too narrow.
  void choose_function(uint32_t frame);
  uint32_t chosen() const { return chosen_; }
  void ask_for_source();

  Rows* rows() const { return rows_.get(); }
  const FlameLayout& layout_of_flames() const { return layout_; }
  // Returns the rectangle in the widget; empty if the row is not shown.
  QRect place_of(uint32_t row) const;
  QString tip_of(const FlameBox& box) const;
  // Returns the selected frame and its ancestors, one per line, with the frame's cost.
  QString text_of_chosen() const;

 signals:
  void zoomed_to(uint32_t row);
  // Emitted when the keyboard cursor moves to the row shown there.
  void chosen_at(const QRect& place);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Look {
    QString name;
    QRgb colour = 0;
  };

  void lay_out();
  int row_height() const;
  QRect place_of(size_t level, const FlameBox& box) const;
  const FlameBox* box_at(const QPoint& at) const;
  const Look& look_of(uint32_t frame) const;
  QString label_of(const FlameBox& box) const;
  QColor colour_of(const FlameBox& box) const;
  QString change_tip(uint32_t row) const;
  void paint_box(QPainter& painter, const QRect& place, const FlameBox& box) const;
  void choose(uint32_t row);
  void show_tip_of_chosen();
  void move_along(int step);
  void move_down();
  QStringList path_of(uint32_t row) const;
  uint32_t row_with_path(const QStringList& path) const;

  Document& document_;
  std::unique_ptr<Rows> rows_;
  FlameLayout layout_;
  std::vector<bool> found_;
  uint32_t zoomed_ = kNone, chosen_ = kNone;
  std::vector<uint32_t> zooms_;  // previous zooms
  bool are_widths_before_ = false;
  QStringList zoomed_path_;                         // set while the tree changes
  mutable std::vector<std::optional<Look>> looks_;  // per frame
};

}  // namespace prof::viewer
