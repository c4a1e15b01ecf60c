#pragma once
// A timeline with its ruler, labels and minimap (timeline_view_paint.cpp), and its mouse and key handling
// (timeline_view_input.cpp). The wheel zooms at the pointer; with Ctrl it changes the height of rows, with
// Shift it scrolls them. A horizontal wheel, or the wheel with Alt, moves in time. Dragging moves; with Shift
// it selects a time, and on the minimap it goes there. A click selects an instant, or opens or closes a group
// at its label. Arrows lead from where a thread submitted a task to where the device began it: those at the
// pointer or the cursor, or all if there are few.

#include <QAbstractScrollArea>
#include <QElapsedTimer>
#include <QTimer>
#include <functional>
#include <optional>

#include "viewer/timeline/launches.h"
#include "viewer/timeline/row_list.h"
#include "viewer/timeline/time_window.h"
#include "viewer/timeline/timeline_picture.h"

namespace prof::viewer {

class TimelineView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);

  // The shown data. Everything that it points to must outlive the view or the next Content.
  struct Content {
    const MappedTraces* traces = nullptr;
    const TraceIndex* index = nullptr;
    std::vector<uint32_t> keys;  // one per context
    std::vector<QRgb> colours;   // one per key
    std::vector<QString> names;  // one per key
  };
  void show_content(Content content);
  void show_rows(std::vector<TimelineRow> rows);
  const std::vector<TimelineRow>& rows() const { return rows_; }
  // nullptr: no arrows.
  void show_launches(const LaunchTable* launches);
  // Returns the index in rows() of the row that shows the profile: its own, or a closed group.
  std::optional<size_t> row_of(uint32_t profile) const;
  // Shows the whole time of a new database, with nothing selected.
  void show_whole(TimeRange whole);

  // False while rows still have to be painted.
  bool is_complete() const {
    return !content_.traces || (!is_stale_ && picture_.is_complete() && overview_.is_complete());
  }

  const TimeRange& shown() const { return window_.shown(); }
  const TimeRange& whole() const { return window_.whole(); }
  void show_range(TimeRange range);
  std::optional<TimeRange> selected() const { return selected_; }
  void select(std::optional<TimeRange> range);
  // Marks the time that all pages show by veiling what is outside.
  void mark_chosen(std::optional<TimeRange> range);

  // The instant whose call stack is shown: a row of rows(), and a time.
  struct Cursor {
    size_t row;
    uint64_t time_ns;
  };
  std::optional<Cursor> cursor() const { return cursor_; }
  void move_cursor(std::optional<Cursor> cursor);
  // Goes to the other end of the first arrow at the cursor and makes it visible. Returns false if there is
  // none.
  bool follow_arrow();

  struct Arrows {
    LaunchTable::Found chosen;  // at the pointer or the cursor
    LaunchTable::Found others;  // all in the visible part, if they are few
  };
  Arrows arrows() const;

  // Returns where rows are painted, in the viewport; for tests.
  QRect picture_area() const;
  QRect labels_area() const;
  QRect minimap_area() const;
  std::optional<size_t> row_at(int y) const;
  // False if the row is scrolled out of view.
  bool is_in_sight(size_t row) const;
  uint64_t time_at(int x) const;

  // Returns the tooltip of an instant as rich text: the row, start and end, and the call path.
  using Describe = std::function<QString(const Cursor&)>;
  void describe_by(Describe describe) { describe_ = std::move(describe); }

 signals:
  void range_changed();
  void selection_changed();
  void cursor_changed();
  // Emitted when other rows became visible.
  void sight_changed();
  // Emitted when some traces were read and painted.
  void refined();
  // Emitted when a group has to be opened or closed, by its key.
  void group_asked(const QString& group);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void scrollContentsBy(int, int) override {
    changed();
    emit sight_changed();
  }

 private:
  enum class Drag : uint8_t { None, Move, Select, Minimap };

  QRect ruler_area() const;
  double row_height() const;  // in viewport pixels
  void measure_labels();
  int label_width() const;
  TimeWindow::Step step();
  void changed();
  // Paints more of the picture, and continues later if that is not all.
  void refine();
  void clear_overview() { overview_width_ = 0; }
  void update_scroll_bar();
  void paint_picture(QPainter& painter);
  void paint_runs(QPainter& painter) const;
  void paint_labels(QPainter& painter) const;
  void paint_ruler(QPainter& painter) const;
  void paint_minimap(QPainter& painter);
  void paint_marks(QPainter& painter) const;
  void paint_arrows(QPainter& painter) const;
  void paint_arrow(QPainter& painter, const DeviceLaunch& launch, bool is_chosen) const;
  std::optional<size_t> row_of(const TimelineRow& before) const;
  void scroll_to(size_t row);
  double top_of(size_t row) const;  // in the viewport
  int x_of(uint64_t time_ns) const;
  PictureRequest request(QSize size) const;
  // Returns the time range that a pointer at that pixel represents.
  TimeRange around(uint64_t time_ns) const;
  LaunchTable::Found arrows_at(const Cursor& cursor) const;
  void point_at(std::optional<Cursor> cursor);
  void go_to_minimap(int x);
  bool act(int key, Qt::KeyboardModifiers modifiers);
  bool move(int key, Qt::KeyboardModifiers modifiers);
  void move_cursor_by_rows(int rows);
  // Moves by a part of the shown time. `selects`: selects the time in between.
  void move_cursor_in_time(int direction, bool selects);
  // Moves to where something else begins to run in the cursor's row.
  void move_cursor_to_change(int direction);
  void put_cursor_at(uint64_t time_ns);
  void make_rows_higher(double steps);
  bool undo();

  Content content_;
  std::vector<TimelineRow> rows_;
  std::vector<PictureRow> picture_rows_;  // of rows_
  std::vector<size_t> row_of_profile_;    // or of the closed group that contains it
  std::vector<bool> shown_profiles_;      // true for those that have a row
  const LaunchTable* launches_ = nullptr;
  TimeWindow window_;
  std::optional<TimeRange> selected_, chosen_;
  std::optional<Cursor> cursor_, pointed_;
  LaunchTable::Found at_pointer_;
  Describe describe_;

  int labels_width_ = 0;
  double tallness_ = 1;  // of rows: 1 if all fit
  struct Height {
    size_t steps;  // steps of window_ after which it changed
    double tallness;
  };
  std::vector<Height> heights_;          // previous heights
  std::optional<uint64_t> select_from_;  // for selection by keys
  TimelinePicture picture_;
  bool is_stale_ = true;
  Overview overview_;
  int overview_width_ = 0;  // in device pixels; 0: outdated
  QTimer refining_;
  Drag drag_ = Drag::None;
  bool was_dragged_ = false;
  QPoint pressed_;
  TimeRange shown_when_pressed_;
  QElapsedTimer since_step_;
};

}  // namespace prof::viewer
