#pragma once
// The timeline: which function each thread was in at which time. Shows rows of the selected threads, the call
// stack of an instant, and the exact time of each function in the visible part.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QSlider>
#include <QSplitter>
#include <QStandardItemModel>
#include <QTimer>
#include <QToolButton>
#include <QTreeView>

#include "viewer/document/page.h"
#include "viewer/document/traces.h"
#include "viewer/timeline/frame_colours.h"
#include "viewer/timeline/function_times.h"
#include "viewer/timeline/launches.h"
#include "viewer/timeline/timeline_view.h"

namespace prof::viewer {

class TimelinePage : public Page {
  Q_OBJECT

 public:
  explicit TimelinePage(Document& document, QWidget* parent = nullptr);

  QString id() const override { return "timeline"; }
  QString title() const override { return "Timeline"; }
  std::vector<PageKey> keys() const override;
  QString reason_empty() const override;
  QString failure() const override { return failure_; }
  bool is_complete() const override;
  QWidget* main_widget() override { return view_; }
  // Returns the call stack if it has the keyboard focus, else the times.
  QAbstractItemView* table() override;

  // Selects the marked time for all pages, or the visible time if none is marked.
  void choose_time();

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  // Roles of an item of the call stack: frame, depth, file and line.
  static constexpr int kFrameRole = Qt::UserRole + 20, kDepthRole = kFrameRole + 1,
                       kFileRole = kFrameRole + 2, kLineRole = kFrameRole + 3;

  QWidget* make_controls();
  void tell(const QString& note);
  QWidget* make_sides();
  // Updates to the document, once the page is visible.
  void refresh();
  void show_document();
  void open_traces();
  void show_content();
  void show_rows();
  void show_launches();
  void show_times();
  void show_stack();
  void add_to_stack(uint32_t context);
  // Hides the stack if there is none.
  void make_room_for_stack(bool has_cursor);
  void go_to_function(const QString& name);
  void go_to_frame_of_stack(const QModelIndex& index);
  void show_menu_of(const QString& name, const QPoint& at);
  void depth_moved(int depth);
  void follow_depth();
  void follow_time();
  void offer_choice();
  void go_to(const Moment& moment);
  void offer_to_cancel();
  void end_of_build(const QString& why);
  QString describe_task(const TimelineView::Cursor& cursor) const;
  QString describe(const TimelineView::Cursor& cursor) const;
  uint32_t depth() const { return static_cast<uint32_t>(depth_->value()); }

  TimelineView* view_;
  QSlider* depth_;
  QLabel* depth_text_;
  QLineEdit* filter_;
  QComboBox* order_;
  RowGroups groups_;
  QCheckBox* shows_launches_;
  LaunchReader* launches_ = nullptr;  // only if the database has traces
  QProgressBar* progress_;
  QToolButton* cancel_;
  QToolButton* choose_;
  QLabel* note_;
  QString failure_;
  QLabel* stack_title_;
  QTreeView* stack_;
  QStandardItemModel stack_model_;
  QSplitter* sides_;
  QLabel* times_title_;
  QTreeView* table_;
  FunctionTimes* times_;
  QTimer times_later_;
  FramesAtDepth frames_;
  std::vector<QString> names_;
  std::shared_ptr<const CallTree> tree_;  // the tree that is shown
  std::optional<Moment> wanted_;          // requested before the page was visible
  bool is_open_ = false;                  // the traces are open
  bool is_stale_ = true;                  // the page does not show the document's current state
};

}  // namespace prof::viewer
