#include "viewer/window/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressDialog>
#include <QSettings>
#include <QToolBar>
#include <QToolButton>
#include <QWidgetAction>

#include "analysis/database/database.h"
#include "viewer/compare/comparison_bar.h"
#include "viewer/document/other_run.h"
#include "viewer/threads/thread_filter.h"
#include "viewer/timeline/timeline_page.h"
#include "viewer/window/choose.h"
#include "viewer/window/help.h"
#include "viewer/window/pages.h"
#include "viewer/window/theme.h"
#include "viewer/window/time_chip.h"

namespace prof::viewer {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRecent = "recent";
constexpr const char* kGeometry = "geometry";
constexpr const char* kDocks = "docks";
constexpr int kLayoutVersion = 1;  // layouts of other versions are ignored
constexpr qsizetype kMaxRecent = 8;

QString text_of(const fs::path& path) {
  return QString::fromStdString(path.string());
}

QStringList recent() {
  return QSettings().value(kRecent).toStringList();
}

}  // namespace

MainWindow::MainWindow() : start_(new StartPage(this)) {
  setDockNestingEnabled(true);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setAcceptDrops(true);
  setCentralWidget(start_);
  connect(start_, &StartPage::open_asked, this, &MainWindow::choose_file);
  connect(start_, &StartPage::asked, this, [this](const QString& path) { open(path.toStdString()); });
  start_->show_recent(recent());
  make_menus();
  make_tools();
  connect(this, &QMainWindow::tabifiedDockWidgetActivated, this,
          [this](QDockWidget* dock) { raised_ = dock->objectName(); });
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    for (QWidget* at = now; at && isAncestorOf(at); at = at->parentWidget())
      if (const auto* const page = qobject_cast<Page*>(at)) raised_ = page->id();
  });
  if (!restoreGeometry(QSettings().value(kGeometry).toByteArray())) resize(1280, 800);
}

MainWindow::~MainWindow() {
  close_document();
}

void MainWindow::make_menus() {
  QMenu* const file = menuBar()->addMenu("&File");
  file->addAction("&Open...", QKeySequence::Open, this, &MainWindow::choose_file);
  recent_menu_ = file->addMenu("Open &recent");
  connect(recent_menu_, &QMenu::aboutToShow, this, [this] {
    recent_menu_->clear();
    for (const QString& path : recent())
      recent_menu_->addAction(path, this, [this, path] { open(path.toStdString()); });
  });
  file->addAction("&Reload", QKeySequence("F5"), this, &MainWindow::reload);
  compare_ =
      file->addAction("Compare &with...", QKeySequence("Ctrl+D"), this, &MainWindow::choose_to_compare);
  end_comparison_ = file->addAction("&End comparison", QKeySequence("Ctrl+Shift+D"), this,
                                    [this] { document_->end_comparison(); });
  compare_->setEnabled(false);
  end_comparison_->setEnabled(false);
  file->addAction("&Close", QKeySequence::Close, this, &MainWindow::close_document);
  file->addSeparator();
  file->addAction("Export &table as CSV...", QKeySequence("Ctrl+Shift+S"), this, &MainWindow::export_table);
  file->addAction("Export &picture...", QKeySequence("Ctrl+Shift+P"), this, &MainWindow::export_picture);
  file->addSeparator();
  file->addAction("&Quit", QKeySequence::Quit, this, &QWidget::close);

  QMenu* const edit = menuBar()->addMenu("&Edit");
  edit->addAction("&Copy as text", QKeySequence::Copy, this, &MainWindow::copy);
  edit->addAction("&Sort by...", QKeySequence("Ctrl+Shift+O"), this, &MainWindow::choose_sorting);

  QMenu* const view = menuBar()->addMenu("&View");
  pages_menu_ = view->addMenu("&Pages");
  for (const auto& [name, theme] : {std::pair{"&Light", Theme::Light}, std::pair{"&Dark", Theme::Dark}})
    view->addAction(name, this, [theme = theme] {
      use_theme(theme);
      remember_theme(theme);
    });
  view->addAction("&Threads ...", QKeySequence("Ctrl+T"), this, [this] {
    if (document_) threads_->showMenu();
  });
  view->addAction("&All threads", QKeySequence("Ctrl+Shift+T"), this, [this] {
    if (document_) document_->choose_all_threads();
  });
  view->addAction("Selected t&ime", QKeySequence("Ctrl+I"), this, &MainWindow::choose_time_in_front);
  view->addAction("Whole ti&me", QKeySequence("Ctrl+Shift+I"), this, [this] {
    if (document_) document_->choose_time({});
  });
  QMenu* const help = menuBar()->addMenu("&Help");
  help->addAction("&Keys", QKeySequence(Qt::Key_F1), this, &MainWindow::show_help);
}

void MainWindow::make_tools() {
  QToolBar* const tools = addToolBar("Metric");
  tools->setObjectName("tools");
  tools->setMovable(false);
  metrics_ = new QComboBox;
  metrics_->setObjectName("metric");
  metrics_->setToolTip("The metric that all pages show first");
  metrics_->setEnabled(false);
  tools->addWidget(metrics_);
  connect(metrics_, &QComboBox::activated, this, [this](int position) {
    if (document_) document_->choose_metric(static_cast<size_t>(position));
  });
  make_thread_filter(tools);
  time_ = new TimeChip;
  tools->addWidget(time_);
  comparison_ = new ComparisonBar;
  QAction* const shown = tools->addWidget(comparison_);
  shown->setVisible(false);
  connect(comparison_, &ComparisonBar::shown, shown, &QAction::setVisible);
  connect(comparison_, &ComparisonBar::shown, end_comparison_, &QAction::setEnabled);
}

void MainWindow::make_thread_filter(QToolBar* tools) {
  filter_ = new ThreadFilter;
  auto* const action = new QWidgetAction(this);
  action->setDefaultWidget(filter_);
  auto* const menu = new QMenu(this);
  menu->addAction(action);
  threads_ = new QToolButton;
  threads_->setObjectName("threads");
  threads_->setText(filter_->words());
  threads_->setToolTip("The threads that all pages show (Ctrl+T)");
  threads_->setPopupMode(QToolButton::InstantPopup);
  threads_->setMenu(menu);
  threads_->setEnabled(false);
  tools->addWidget(threads_);
  connect(filter_, &ThreadFilter::words_changed, threads_, &QToolButton::setText);
  connect(menu, &QMenu::aboutToShow, filter_->text(), qOverload<>(&QWidget::setFocus));
}

void MainWindow::resize_as_asked(const ViewOptions& options) {
  if (const auto size = size_of(options.size)) resize(size->width, size->height);
}

void MainWindow::open_as_asked(const ViewOptions& options) {
  if (options.database.empty()) return;
  open(options.database);
  if (!document_) return;
  try {
    choose(*document_, options);
  } catch (const std::exception& error) {
    QMessageBox::warning(this, "prof view", error.what());
  }
  fill_metrics();
  if (!options.view.empty()) show_page(QString::fromStdString(options.view));
  try {
    choose_function(*document_, options);
  } catch (const std::exception& error) {
    QMessageBox::warning(this, "prof view", error.what());
  }
  if (!options.compare.empty()) compare_with(options.compare, options.same_total);
}

void MainWindow::open(const fs::path& path) {
  std::error_code error;
  if (!is_database(path) && is_database(path / "database")) return open(path / "database");
  if (!is_database(path) && fs::is_directory(path, error))
    return analyze(path, [this](const std::string& database) { open(database); });
  if (is_opening_) return;  // events are handled meanwhile
  is_opening_ = true;
  start_->show_opening(text_of(path));
  QApplication::setOverrideCursor(Qt::WaitCursor);
  std::unique_ptr<Document> opened;
  QString why;
  try {
    opened = std::make_unique<Document>(open_while_painting(path));
  } catch (const std::exception& failure) {
    why = failure.what();
  }
  QApplication::restoreOverrideCursor();
  start_->show_opening({});
  is_opening_ = false;
  if (is_closed_) return;
  if (!opened) return fail(path, why);
  try {
    show_document(std::move(opened));
    remember(path);
  } catch (const std::exception& failure) {
    fail(path, failure.what());
  }
}

void MainWindow::fail(const fs::path& path, const QString& why) {
  const QString text = why.contains(text_of(path.filename())) ? why : text_of(path) + ": " + why;
  if (!document_) return start_->show_failure(text);
  // Not modal: the document stays usable.
  auto* const box = new QMessageBox(QMessageBox::Warning, "prof view", text, QMessageBox::Ok, this);
  box->setObjectName("failure");
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

void MainWindow::tell(const QString& text) {
  auto* const box = new QMessageBox(QMessageBox::Information, "prof view", text, QMessageBox::Ok, this);
  box->setObjectName("note");
  box->setAttribute(Qt::WA_DeleteOnClose);
  box->open();
}

void MainWindow::tell_failure(const QString& why) {
  if (!document_ || shown_failures_.contains(why)) return;  // a table fails again for each of its rows
  shown_failures_.insert(why);
  fail(document_->directory(), why);
}

void MainWindow::analyze(const fs::path& directory, std::function<void(const std::string&)> then) {
  auto* const analysis = new Analysis(this);
  auto* const progress = new QProgressDialog("Analyzing " + text_of(directory), "Cancel", 0, 0, this);
  progress->setAttribute(Qt::WA_DeleteOnClose);
  connect(progress, &QProgressDialog::canceled, analysis, &Analysis::cancel);
  connect(analysis, &Analysis::finished, this, [=, this](const QString& database, const QString& why) {
    progress->close();
    analysis->deleteLater();
    if (why.isEmpty()) return then(database.toStdString());
    if (why != "cancelled") fail(directory, why);
  });
  progress->show();
  analysis->start(directory);
}

void MainWindow::compare_with(const fs::path& path, bool same_total) {
  if (!document_) return open(path);
  std::error_code error;
  if (!is_database(path) && is_database(path / "database"))
    return compare_with(path / "database", same_total);
  if (!is_database(path) && fs::is_directory(path, error))
    return analyze(path,
                   [this, same_total](const std::string& database) { compare_with(database, same_total); });
  read_to_compare(path, same_total);
}

void MainWindow::read_to_compare(const fs::path& path, bool same_total) {
  auto* const reader = new OtherRunReader(document_.get());  // destroyed with the document
  auto* const progress = new QProgressDialog("Comparing with " + text_of(path), "Cancel", 0, 100, this);
  progress->setAttribute(Qt::WA_DeleteOnClose);
  connect(progress, &QProgressDialog::canceled, reader, &OtherRunReader::cancel);
  connect(reader, &QObject::destroyed, progress, &QWidget::close);
  connect(reader, &OtherRunReader::progressed, progress, [progress](double share) {
    constexpr double kPercent = 100;
    progress->setValue(std::min(static_cast<int>(share * kPercent), 99));  // it would close at 100
  });
  const Comparing how{same_total, document_->comparing().is_other_before};
  connect(reader, &OtherRunReader::finished, this, [=, this](const QString& why) {
    const std::shared_ptr<const OtherRun> other = reader->result();
    const PreparedTree prepared = reader->prepared();
    reader->deleteLater();
    if (!why.isEmpty()) return fail(path, why);
    if (!other) return;  // cancelled
    document_->compare_with(other, how, &prepared);
    show_page("diff");
  });
  reader->start(document_->database(), document_->shared_measured_tree(),
                {document_->is_recursion_merged(), how.same_total, how.is_other_before}, path);
}

void MainWindow::choose_to_compare() {
  const QString path =
      QFileDialog::getExistingDirectory(this, "Compare with a database or a measurement directory");
  if (!path.isEmpty()) compare_with(path.toStdString());
}

void MainWindow::show_document(std::unique_ptr<Document> document) {
  close_document();
  document_ = std::move(document);
  shown_failures_.clear();
  start_->show_failure({});
  connect(document_.get(), &Document::page_asked, this, &MainWindow::show_page);
  connect(document_.get(), &Document::metric_changed, this,
          [this] { metrics_->setCurrentIndex(static_cast<int>(document_->metric())); });
  connect(document_.get(), &Document::source_asked, this, [this] { show_page("source"); });
  connect(document_.get(), &Document::tree_changed, this, &MainWindow::fill_metrics);
  make_pages();
  fill_metrics();
  connect(document_.get(), &Document::time_not_chosen, this,
          [this](const QString& why) { fail(document_->directory(), why); });
  filter_->show_document(document_.get());
  time_->show_document(document_.get());
  comparison_->show_document(document_.get());
  threads_->setEnabled(true);
  compare_->setEnabled(true);
  setWindowTitle(QString::fromStdString(document_->run().command));
}

void MainWindow::fill_metrics() {
  metrics_->clear();
  for (size_t m = 0; m < document_->tree().distinct_metrics(); ++m) {
    const Metric& metric = document_->tree().metric(m);
    metrics_->addItem(QString::fromStdString(metric.name));
    metrics_->setItemData(static_cast<int>(m), QString::fromStdString(metric.description), Qt::ToolTipRole);
  }
  metrics_->setEnabled(true);
  metrics_->setCurrentIndex(static_cast<int>(document_->metric()));
}

// Ctrl with 1 to 9 and 0; further pages also need Shift.
QKeySequence key_of_page(int number) {
  constexpr int kDigits = 10;
  return QKeySequence(QString("Ctrl+%1%2").arg(number > kDigits ? "Shift+" : "").arg(number % kDigits));
}

void MainWindow::make_pages() {
  start_->hide();
  QDockWidget* before = nullptr;
  int number = 0;
  for (const std::string& name : kPages) {
    const QString id = QString::fromStdString(name);
    std::unique_ptr<Page> page = make_page(id, *document_);
    if (!page) continue;
    auto* const dock = new QDockWidget(page->title(), this);
    dock->setObjectName(id);
    dock->setWidget(page.release());
    addDockWidget(Qt::TopDockWidgetArea, dock);
    if (before) tabifyDockWidget(before, dock);
    before = dock;
    docks_[id] = dock;
    pages_menu_->addAction(dock->toggleViewAction());
    pages_menu_->addAction("Go to " + dock->windowTitle(), key_of_page(++number), this,
                           [this, id] { show_page(id); });
  }
  restoreState(QSettings().value(kDocks).toByteArray(), kLayoutVersion);
  if (!docks_.empty()) show_page(QString::fromStdString(kPages.front()));
}

void MainWindow::close_document() {
  if (!document_) return;
  QSettings().setValue(kDocks, saveState(kLayoutVersion));
  pages_menu_->clear();
  filter_->show_document(nullptr);
  time_->show_document(nullptr);
  comparison_->show_document(nullptr);
  compare_->setEnabled(false);
  for (const auto& [id, dock] : docks_) delete dock;  // its page uses the document
  docks_.clear();
  raised_.clear();
  document_.reset();
  metrics_->clear();
  metrics_->setEnabled(false);
  threads_->setEnabled(false);
  start_->show_recent(recent());
  start_->show();
  setWindowTitle({});
}

void MainWindow::reload() {
  if (!document_) return;
  const Page* const front = page_in_front();
  const QString id = front ? front->id() : QString();
  open(fs::path(document_->directory()));
  if (!id.isEmpty()) show_page(id);
}

void MainWindow::show_help() {
  std::vector<const Page*> pages;
  for (const std::string& id : kPages)
    if (const Page* const shown = page(QString::fromStdString(id))) pages.push_back(shown);
  (new Help(*menuBar(), pages, this))->show();
}

void MainWindow::choose_time_in_front() {
  if (!document_) return;
  show_page("timeline");
  static_cast<TimelinePage*>(page("timeline"))->choose_time();
}

Page* MainWindow::page(const QString& id) const {
  const auto at = docks_.find(id);
  return at == docks_.end() ? nullptr : static_cast<Page*>(at->second->widget());
}

void MainWindow::show_page(const QString& id) {
  const auto at = docks_.find(id);
  if (at == docks_.end()) return;
  at->second->show();
  at->second->raise();
  raised_ = id;
  page(id)->main_widget()->setFocus();
}

void MainWindow::choose_file() {
  const QString path = QFileDialog::getExistingDirectory(this, "Open a database or a measurement directory");
  if (!path.isEmpty()) open(path.toStdString());
}

void MainWindow::remember(const fs::path& path) {
  std::error_code error;
  const QString name = text_of(fs::absolute(path, error));
  QStringList paths = recent();
  paths.removeAll(name);
  paths.prepend(name);
  QSettings().setValue(kRecent, QStringList(paths.mid(0, kMaxRecent)));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  QSettings().setValue(kGeometry, saveGeometry());
  is_closed_ = true;
  close_document();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls() && event->mimeData()->urls().first().isLocalFile())
    event->acceptProposedAction();
}

// With Ctrl pressed, a dropped second database is compared with the open one.
void MainWindow::dropEvent(QDropEvent* event) {
  const fs::path path = event->mimeData()->urls().first().toLocalFile().toStdString();
  event->acceptProposedAction();
  if (document_ && event->modifiers() & Qt::ControlModifier) return compare_with(path);
  open(path);
}

}  // namespace prof::viewer
