#pragma once
// Who was in which function when: rows of the chosen threads, the call stack of an instant, and the time of
// each function in exactly what is shown.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProgressBar>
#include <QSlider>
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
  QString why_empty() const override;
  QString failure() const override { return failure_; }
  bool is_complete() const override;
  QWidget* main_widget() override { return view_; }
  QAbstractItemView* table() override { return table_; }

  // The selected time for all pages, or, where none is, what is shown.
  void choose_time();

 protected:
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  // Of an item of the call stack: its frame, and its depth.
  static constexpr int kFrameRole = Qt::UserRole, kDepthRole = Qt::UserRole + 1;

  QWidget* make_controls();
  void tell(const QString& note);
  QWidget* make_sides();
  // What is shown follows the document, once it is seen.
  void refresh();
  void show_document();
  void open_traces();
  void show_content();
  void show_rows();
  void show_launches();
  void show_times();
  void show_stack();
  void depth_moved(int depth);
  void follow_depth();
  void follow_time();
  void offer_choice();
  void go_to(const Moment& moment);
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
  LaunchReader* launches_ = nullptr;  // of a database with traces
  QProgressBar* progress_;
  QToolButton* cancel_;
  QToolButton* choose_;
  QLabel* note_;
  QString failure_;
  QLabel* stack_title_;
  QListWidget* stack_;
  QLabel* times_title_;
  QTreeView* table_;
  FunctionTimes* times_;
  QTimer times_later_;
  FramesAtDepth frames_;
  std::vector<QString> names_;
  std::shared_ptr<const CallTree> tree_;  // that is shown
  std::optional<Moment> wanted_;          // asked for before the page was seen
  bool is_open_ = false;                  // the traces are
  bool is_stale_ = true;                  // what is shown is not the document's
};

}  // namespace prof::viewer
