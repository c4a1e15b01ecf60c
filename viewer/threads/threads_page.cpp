#include "viewer/threads/threads_page.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analysis/words/numbers.h"
#include "viewer/document/remembered.h"
#include "viewer/document/words.h"

namespace prof::viewer {

namespace {

constexpr size_t kNamedOutliers = 4;

QString label_of(const Database& database, uint32_t profile) {
  return QString::fromStdString(thread_label(database, profile));
}

}  // namespace

ThreadsPage::ThreadsPage(Document& document, QWidget* parent)
    : Page(document, parent),
      sentence_(new QLabel),
      kind_(new QComboBox),
      whole_program_(new QPushButton("Whole program")),
      all_threads_(new QPushButton("All threads")),
      by_thread_(new ThreadPlot(ThreadPlot::Order::ByThread)),
      sorted_(new ThreadPlot(ThreadPlot::Order::Sorted)),
      histogram_(new ThreadPlot(ThreadPlot::Order::Histogram)),
      table_(new QTableView) {
  sentence_->setObjectName("sentence");
  by_thread_->setObjectName("by_thread");
  sorted_->setObjectName("sorted");
  histogram_->setObjectName("histogram");
  sentence_->setWordWrap(true);
  sentence_->setTextInteractionFlags(Qt::TextBrowserInteraction);
  kind_->addItems({"with callees", "itself"});
  kind_->setToolTip("Cost of the function to show");
  whole_program_->setToolTip("Show the whole program instead of one function");
  all_threads_->setToolTip("Select all threads again, for all pages");
  auto* const tools = new QHBoxLayout;
  tools->setContentsMargins(fontMetrics().averageCharWidth(), 0, fontMetrics().averageCharWidth(), 0);
  tools->addWidget(sentence_, 1);
  for (QWidget* const widget : {static_cast<QWidget*>(kind_), static_cast<QWidget*>(whole_program_),
                                static_cast<QWidget*>(all_threads_)})
    tools->addWidget(widget);

  table_->setModel(&model_);
  table_->setSelectionBehavior(QTableView::SelectRows);
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 4);
  table_->setAlternatingRowColors(true);
  table_->sortByColumn(ThreadTable::Value, Qt::DescendingOrder);
  table_->setSortingEnabled(true);
  table_->setTabKeyNavigation(false);
  constexpr int kMeasuredRows = 100;
  table_->horizontalHeader()->setResizeContentsPrecision(kMeasuredRows);
  table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table_->horizontalHeader()->setSectionResizeMode(ThreadTable::Name, QHeaderView::Stretch);

  auto* const plots = new QSplitter(Qt::Vertical);
  auto* const below = new QSplitter(Qt::Horizontal);
  plots->addWidget(by_thread_);
  below->addWidget(sorted_);
  below->addWidget(histogram_);
  plots->addWidget(below);
  auto* const halves = new QSplitter(Qt::Horizontal);
  halves->addWidget(plots);
  halves->addWidget(table_);
  halves->setStretchFactor(0, 2);
  halves->setStretchFactor(1, 1);
  constexpr int kPlots = 700, kTable = 500;  // the ratio in which they share the width
  halves->setSizes({kPlots, kTable});
  remember_splitter(*plots, "threads-plots");
  remember_splitter(*below, "threads-below");
  remember_splitter(*halves, "threads");
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, fontMetrics().averageCharWidth(), 0, 0);
  column->addLayout(tools);
  column->addWidget(halves, 1);

  for (ThreadPlot* const plot : {by_thread_, sorted_, histogram_})
    connect(plot, &ThreadPlot::threads_asked, this, &ThreadsPage::choose_shown);
  connect(table_, &QTableView::activated, this,
          [this](const QModelIndex& row) { choose_shown({model_.thread(row.row())}, false); });
  connect(sentence_, &QLabel::linkActivated, this,
          [this](const QString& profile) { choose({profile.toUInt()}, false); });
  connect(kind_, &QComboBox::activated, this, &ThreadsPage::renew);
  connect(whole_program_, &QPushButton::clicked, this, &ThreadsPage::clear_function);
  connect(all_threads_, &QPushButton::clicked, this, [this] { this->document().choose_all_threads(); });
  connect(&document, &Document::tree_changed, this, &ThreadsPage::renew);
  connect(&document, &Document::metric_changed, this, &ThreadsPage::renew);
  connect(&document, &Document::function_asked, this, &ThreadsPage::choose_function);
}

std::vector<PageKey> ThreadsPage::keys() const {
  return {{"Left, Right, Home, End", "in a plot: another bar"},
          {"Enter, Space", "select the threads of the bar or row, for all pages"},
          {"Ctrl+Enter", "add them to the selected threads"}};
}

void ThreadsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!is_filled_) renew();
}

void ThreadsPage::renew() {
  is_filled_ = isVisible();
  if (is_filled_) fill();
}

void ThreadsPage::choose_function(uint32_t frame) {
  const CallTree& tree = document().tree();
  if (frame >= tree.frames.size()) return;
  function_ = QString::fromStdString(frame_name(*tree.database, tree.frames[frame]));
  renew();
}

void ThreadsPage::clear_function() {
  function_.reset();
  renew();
}

void ThreadsPage::choose_shown(const std::vector<uint32_t>& threads, bool adds) {
  std::vector<uint32_t> profiles;
  for (const uint32_t thread : threads) profiles.push_back(shown_[thread]);
  choose(std::move(profiles), adds);
}

void ThreadsPage::choose(std::vector<uint32_t> chosen, bool adds) {
  if (adds && !document().has_all_threads())
    chosen.insert(chosen.end(), document().threads().begin(), document().threads().end());
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  document().choose_threads(std::move(chosen));
}

QString ThreadsPage::reason_empty() const {
  return document().tree().metrics() > 0 ? QString() : "nothing was measured: all metrics are zero";
}

void ThreadsPage::fill() {
  const CallTree& tree = document().tree();
  const Database& database = *tree.database;
  all_threads_->setEnabled(!document().has_all_threads());
  if (const QString why = reason_empty(); !why.isEmpty()) {
    sentence_->setText(why);
    shown_.clear();
    for (ThreadPlot* const plot : {by_thread_, sorted_, histogram_}) plot->show_values({}, {}, {}, {}, {});
    return model_.show_values({}, {}, {}, {});
  }
  const Metric metric = tree.metric(document().metric());
  std::optional<uint32_t> frame;
  for (uint32_t f = 0; function_ && f < tree.frames.size() && !frame; ++f)
    if (frame_name(database, tree.frames[f]) == function_->toStdString()) frame = f;
  const auto kind = kind_->currentIndex() == 0 ? CostKind::Inclusive : CostKind::Exclusive;
  std::vector<double> values(database.profiles.size());
  if (frame || !function_)
    values = thread_values(tree, tree.selection.metrics[document().metric()], frame, kind);
  kind_->setVisible(function_.has_value());
  whole_program_->setVisible(function_.has_value());
  shown_ = comparable(database, values);
  const size_t left = values.size() - shown_.size();
  const bool are_queues = left > 0 && database.profiles[shown_[0]].id.device < 0;
  const QString what =
      are_queues ? (left == 1 ? "device queue" : "device queues") : (left == 1 ? "thread" : "threads");
  std::vector<double> compared;
  std::vector<bool> is_chosen;
  for (const uint32_t profile : shown_) {
    compared.push_back(values[profile]);
    is_chosen.push_back(std::ranges::binary_search(document().threads(), profile));
  }
  values = std::move(compared);
  sentence_->setText(in_words(metric, values) +
                     (left > 0 ? QString(" Not shown: %1 %2 without a value.").arg(left).arg(what) : ""));

  const auto words = [metric](double value) { return quantity(metric, value); };
  const auto exact = [metric](double value) { return exact_quantity(metric, value); };
  std::vector<QString> names;
  for (const uint32_t profile : shown_) names.push_back(label_of(database, profile));
  const auto name = [names](uint32_t thread) { return names[thread]; };
  for (ThreadPlot* const plot : {by_thread_, sorted_, histogram_})
    plot->show_values(values, is_chosen, words, exact, name);
  model_.show_values(std::move(names), values, words, exact);
}

QString ThreadsPage::in_words(const Metric& metric, const std::vector<double>& values) const {
  const Distribution spread = distribution(values);
  QString text = QString("<b>%1</b> of %2, by thread: %3 to %4, median %5, mean %6, deviation %7.")
                     .arg(QString::fromStdString(metric.name).toHtmlEscaped(),
                          function_ ? function_->toHtmlEscaped() : QString("the whole program"),
                          quantity(metric, spread.minimum), quantity(metric, spread.maximum),
                          quantity(metric, spread.median), quantity(metric, spread.mean),
                          quantity(metric, spread.stddev));
  std::vector<uint32_t> outliers;
  for (uint32_t thread = 0; thread < values.size(); ++thread)
    if (spread.is_outlier(values[thread])) outliers.push_back(thread);
  if (outliers.empty()) return text + " No outliers.";
  std::ranges::stable_sort(outliers, std::greater(),
                           [&](uint32_t thread) { return std::abs(values[thread] - spread.median); });
  QStringList names;
  for (size_t i = 0; i < std::min(kNamedOutliers, outliers.size()); ++i)
    names << QString("<a href=\"%1\">%2</a>")
                 .arg(shown_[outliers[i]])
                 .arg(label_of(*document().tree().database, shown_[outliers[i]]).toHtmlEscaped());
  if (outliers.size() > kNamedOutliers) names << "...";
  return text + " Outliers: " + names.join(", ") + ".";
}

}  // namespace prof::viewer
