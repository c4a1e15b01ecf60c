#include "viewer/source/source_page.h"

#include <QHeaderView>
#include <QSplitter>
#include <QVBoxLayout>

#include "analysis/views/wording.h"
#include "viewer/document/words.h"
#include "viewer/source/source_file.h"
#include "viewer/tables/cost_delegate.h"
#include "viewer/tables/cost_model.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr int kFileRole = Qt::UserRole + 10;

}  // namespace

SourcePage::SourcePage(Document& document, QWidget* parent)
    : Page(document, parent), files_view_(new QTreeView), path_(new QLabel), view_(new SourceView(document)) {
  files_view_->setModel(&files_);
  files_view_->setRootIsDecorated(false);
  files_view_->setUniformRowHeights(true);
  files_view_->setAlternatingRowColors(true);
  files_view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  files_view_->setItemDelegate(new CostDelegate(files_view_));
  files_view_->setObjectName("files");
  path_->setObjectName("path");
  path_->setWordWrap(true);
  path_->setMargin(4);
  path_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* const right = new QWidget;
  auto* const column = new QVBoxLayout(right);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(path_);
  column->addWidget(view_, 1);
  auto* const parts = new QSplitter;
  parts->addWidget(files_view_);
  parts->addWidget(right);
  parts->setStretchFactor(1, 1);
  parts->setSizes({fontMetrics().averageCharWidth() * 50, fontMetrics().averageCharWidth() * 120});
  auto* const whole = new QVBoxLayout(this);
  whole->setContentsMargins(0, 0, 0, 0);
  whole->addWidget(parts);
  connect(files_view_, &QTreeView::activated, this, [this](const QModelIndex& index) {
    show_source(index.siblingAtColumn(0).data(kFileRole).toUInt(), 0);
  });
  connect(files_view_, &QTreeView::clicked, this, [this](const QModelIndex& index) {
    show_source(index.siblingAtColumn(0).data(kFileRole).toUInt(), 0);
  });
  const auto refill = [this] {
    is_filled_ = false;
    if (isVisible()) fill();
  };
  connect(&document, &Document::tree_changed, this, refill);
  connect(&document, &Document::metric_changed, this, refill);
  connect(&document, &Document::source_asked, this, [this](uint32_t file, uint32_t line) {
    asked_file_ = file;
    asked_line_ = line;
    this->document().ask_for_page("source");
    if (isVisible()) fill();
  });
}

QString SourcePage::why_empty() const {
  const CallTree& tree = document().tree();
  if (tree.metrics() > 0 && !file_costs(tree, document().metric()).empty()) return {};
  return "no line of a source file is known: build the program with -g";
}

void SourcePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  fill();
}

void SourcePage::fill() {
  if (document().tree().metrics() == 0) return;
  if (!is_filled_) {
    is_filled_ = true;
    fill_files();
    fill_costs();
  }
  if (asked_file_ != kNone) {
    show_source(asked_file_, asked_line_);
    asked_file_ = kNone;
  } else if (file_ == kNone && files_.rowCount() > 0) {
    show_source(files_.item(0)->data(kFileRole).toUInt(), 0);
  }
  if (file_ == kNone) path_->setText(why_empty());
}

void SourcePage::fill_files() {
  const CallTree& tree = document().tree();
  const size_t m = document().metric();
  const Metric& metric = tree.metric(m);
  files_.clear();
  files_.setHorizontalHeaderLabels({"File", QString::fromStdString(metric.name) + " excl"});
  for (const FileCost& file : file_costs(tree, m)) {
    const std::string& path = document().database().files[file.file].path;
    auto* const name = new QStandardItem(QString::fromStdString(base_name(path)));
    name->setToolTip(QString::fromStdString(path));
    name->setData(QString::fromStdString(path), kExactRole);
    name->setData(file.file, kFileRole);
    const double share = tree.share(file.exclusive, m);
    auto* const cost = new QStandardItem(
        file.exclusive > 0 ? quantity(metric, file.exclusive) + "  " + percent(share) : QString());
    cost->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    cost->setToolTip(exact_quantity(metric, file.exclusive));
    cost->setData(file.exclusive, kExactRole);
    cost->setData(share, kShareRole);
    cost->setData(file.exclusive > 0 ? quantity(metric, file.exclusive) : QString(), kQuantityRole);
    files_.appendRow({name, cost});
  }
  files_view_->header()->resizeSection(0, fontMetrics().averageCharWidth() * 26);
  files_view_->header()->resizeSection(1, width_of_cost(fontMetrics()));
}

void SourcePage::fill_costs() {
  if (file_ != kNone) view_->show_costs(line_costs(document().tree(), file_, document().metric()));
}

void SourcePage::show_source(uint32_t file, uint32_t line) {
  if (file >= document().database().files.size()) return;
  if (file != file_) {
    file_ = file;
    const SourceFile& source = document().database().files[file];
    const QString name = QString::fromStdString(source.path);
    const SourceText text = read_source(document().directory(), source);
    path_->setText(text.failure.isEmpty() ? name : text.failure);
    view_->show_text(text.text, language_of(name));
    fill_costs();
  }
  if (line > 0)
    view_->go_to(line);
  else
    view_->go_to_hot(true);
  for (int row = 0; row < files_.rowCount(); ++row)
    if (files_.item(row)->data(kFileRole).toUInt() == file)
      files_view_->setCurrentIndex(files_.index(row, 0));
}

std::vector<PageKey> SourcePage::keys() const {
  return {{"N, P", "the next line by cost, and the one before"}};
}

}  // namespace prof::viewer
