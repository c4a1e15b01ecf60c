#pragma once
// The window: the pages of the opened document in docks that the user arranges, and the actions on the
// document.

#include <QMainWindow>
#include <QSet>
#include <QStackedWidget>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "viewer/document/document.h"
#include "viewer/document/page.h"
#include "viewer/options/view_options.h"
#include "viewer/window/opening.h"
#include "viewer/window/start_page.h"

class QAction;
class QComboBox;
class QDockWidget;
class QMenu;
class QToolBar;
class QToolButton;

namespace prof::viewer {

class ComparisonBar;
class ThreadFilter;
class TimeChip;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow();
  ~MainWindow() override;

  void resize_as_asked(const ViewOptions& options);
  // Opens what the command line requests, without its window size. The window shows what cannot be opened or
  // selected.
  void open_as_asked(const ViewOptions& options);
  // Opens a database, or a measurement directory, which is analyzed first. Returns when the database is open
  // or was refused. The window is painted meanwhile.
  void open(const std::filesystem::path& path);
  void close_document();
  // Compares with another database or measurements, as open() takes them. They are read in the background;
  // then the page "diff" is in front.
  void compare_with(const std::filesystem::path& path, bool same_total = false);

  Document* document() const { return document_.get(); }
  Page* page(const QString& id) const;
  void show_page(const QString& id);
  // Reloads the database, with the same page in front.
  void reload();
  // Shows a failure of the document next to it, once for each line.
  void tell_failure(const QString& why);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void make_menus();
  void make_tools();
  void show_document(std::unique_ptr<Document> document);
  void make_pages();
  void make_thread_filter(QToolBar* tools);
  void fill_metrics();
  void choose_time_in_front();
  void fail(const std::filesystem::path& path, const QString& why);
  // Shows a message that is not a failure of a file; not modal either.
  void tell(const QString& text);
  void remember(const std::filesystem::path& path);
  void choose_file();
  void analyze(const std::filesystem::path& directory, std::function<void(const std::string& database)> then);
  void choose_to_compare();
  void read_to_compare(const std::filesystem::path& path, bool same_total);
  // Returns the page with the keyboard focus, or else the one that came to the front last.
  Page* page_in_front() const;
  void copy();
  void choose_sorting();
  void export_table();
  void export_picture();
  void show_help();

  std::unique_ptr<Document> document_;
  QSet<QString> shown_failures_;  // of the document
  std::map<QString, QDockWidget*> docks_;
  bool is_opening_ = false, is_closed_ = false;
  QString raised_;  // the page that came to the front last
  StartPage* start_ = nullptr;
  QMenu* pages_menu_ = nullptr;
  QMenu* recent_menu_ = nullptr;
  QComboBox* metrics_ = nullptr;
  QToolButton* threads_ = nullptr;
  ThreadFilter* filter_ = nullptr;
  TimeChip* time_ = nullptr;
  ComparisonBar* comparison_ = nullptr;
  QAction* compare_ = nullptr;
  QAction* end_comparison_ = nullptr;
};

}  // namespace prof::viewer
