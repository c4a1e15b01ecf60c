#include "viewer/flame/flame_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>

#include "viewer/document/words.h"
#include "viewer/flame/change_legend.h"

namespace prof::viewer {

namespace {

constexpr const char* kDirectionSetting = "flame/direction";

}  // namespace

double found_share(const CallTree& tree, const std::vector<bool>& frames, size_t metric) {
  double sum = 0;
  for (uint32_t n = 0; n < tree.nodes.size();) {
    const bool is_found = frames[tree.nodes[n].frame];
    if (is_found) sum += tree.cost(n, metric).inclusive;
    n = is_found ? tree.nodes[n].end : n + 1;
  }
  return tree.share(sum, metric);
}

FlamePage::FlamePage(Document& document, QWidget* parent)
    : Page(document, parent),
      search_(new SearchField),
      direction_(new QComboBox),
      widths_(new QComboBox),
      legend_(new ChangeLegend),
      area_(new QScrollArea),
      flames_(new FlameWidget(document)),
      table_(new QTreeView(this)) {
  table_->setObjectName("frames");
  table_->hide();
  direction_->addItems({"From the entry points", "From the hottest functions"});
  direction_->setObjectName("direction");
  direction_->setCurrentIndex(QSettings().value(kDirectionSetting).toInt() == 1 ? 1 : 0);
  direction_->setToolTip("Which frames are on top (D)");
  widths_->addItems({"Widths of the run after", "Widths of the run before"});
  widths_->setObjectName("widths");
  widths_->setToolTip(
      "The run that gives the widths: new frames have none before, removed frames none after");
  auto* const bar = new QHBoxLayout;
  bar->setContentsMargins(4, 2, 4, 2);
  bar->addWidget(search_);
  bar->addStretch();
  bar->addWidget(legend_);
  bar->addWidget(widths_);
  bar->addWidget(direction_);
  area_->setWidget(flames_);
  area_->setWidgetResizable(true);
  area_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area_->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn);  // otherwise it would change the width
  auto* const column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addLayout(bar);
  column->addWidget(area_);

  const auto add_key = [this](const QKeySequence& key, auto&& act) {
    auto* const action = new QAction(this);
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, act);
    addAction(action);
  };
  add_key(QKeySequence::Find, [this] { search_->start(); });
  auto* const turn = new QAction(flames_);
  turn->setShortcut(Qt::Key_D);
  turn->setShortcutContext(Qt::WidgetShortcut);
  connect(turn, &QAction::triggered, this,
          [this] { direction_->setCurrentIndex(1 - direction_->currentIndex()); });
  flames_->addAction(turn);

  connect(search_, &SearchField::changed, this, &FlamePage::search);
  connect(search_, &SearchField::left, this, [this] { flames_->setFocus(); });
  connect(direction_, &QComboBox::currentIndexChanged, this, [this](int direction) {
    QSettings().setValue(kDirectionSetting, direction);
    flames_->clear_tree();
    if (isVisible()) fill();
  });
  connect(widths_, &QComboBox::currentIndexChanged, this, [this](int choice) {
    flames_->set_widths_before(choice == 1);
    search();
  });
  connect(flames_, &FlameWidget::chosen_at, this, [this](const QRect& place) {
    if (!place.isEmpty()) area_->ensureVisible(0, place.center().y());
  });
  connect(&document, &Document::tree_will_change, flames_, &FlameWidget::clear_tree);
  connect(&document, &Document::tree_will_change, this, [this] {
    table_->setModel(nullptr);
    model_.reset();
  });
  connect(&document, &Document::tree_changed, this, [this] {
    asked_function_ = kNone;
    if (isVisible()) fill();
  });
  connect(&document, &Document::metric_changed, this, [this] {
    if (isVisible()) flames_->take_metric();
    search();
  });
  connect(&document, &Document::function_asked, this, [this](uint32_t frame) {
    if (isVisible())
      flames_->choose_function(frame);
    else
      asked_function_ = frame;
  });
}

QString FlamePage::reason_empty() const {
  return document().tree().metrics() > 0 ? QString() : "nothing was measured: all metrics are zero";
}

QAbstractItemView* FlamePage::table() {
  const CallTree& tree = document().tree();
  model_ = std::make_unique<CostModel>(reading());
  model_->show(&tree);
  model_->set_metric(document().metric());
  for (const Column& column : known_columns(tree))
    if (column.kind != ColumnKind::Spread) model_->insert_column(model_->columnCount(), column);
  if (tree.metrics() > 0)
    model_->sort(model_->column_of(heaviest_key(tree, document().metric(), reading() == Reading::TopDown)),
                 Qt::DescendingOrder);
  table_->setModel(model_.get());
  return table_;
}

Reading FlamePage::reading() const {
  return direction_->currentIndex() == 0 ? Reading::TopDown : Reading::BottomUp;
}

void FlamePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  fill();
  if (asked_function_ == kNone) return;
  flames_->choose_function(asked_function_);
  asked_function_ = kNone;
}

void FlamePage::fill() {
  const bool compares = document().tree().compared.has_value();
  legend_->setVisible(compares);
  widths_->setVisible(compares);
  if (!flames_->is_filled()) flames_->show_tree(reading());
  flames_->take_metric();  // it may have changed while the page was hidden
  search();
}

void FlamePage::search() {
  if (!flames_->is_filled()) return;
  const CallTree& tree = document().tree();
  std::vector<bool> found = search_->matches(tree);
  if (std::find(found.begin(), found.end(), true) != found.end())
    search_->tell(percent(found_share(tree, found, flames_->weighed())) + " of all");
  flames_->set_found(std::move(found));
}

std::vector<PageKey> FlamePage::keys() const {
  return {{"Arrows", "select a frame: above, below, left or right"},
          {"Enter", "zoom into the frame"},
          {"Backspace, Escape; Home", "back to the previous view; whole graph"},
          {"Ctrl+Enter", "source of the frame"},
          {"Space", "exact values of the frame"},
          {"D", "turn the graph over: callers or callees"},
          {"Ctrl+F", "search"}};
}

}  // namespace prof::viewer
