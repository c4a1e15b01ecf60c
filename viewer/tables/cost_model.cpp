#include "viewer/tables/cost_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/views/tree/wording.h"
#include "viewer/document/words.h"
#include "viewer/tables/change_cells.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

constexpr uint32_t kAbove = 0;  // the invisible root item

double value_of(const Spread& spread, SpreadPart part) {
  switch (part) {
    case SpreadPart::Minimum:
      return spread.minimum;
    case SpreadPart::Mean:
      return spread.mean();
    case SpreadPart::Maximum:
      return spread.maximum;
    case SpreadPart::Deviation:
      break;
  }
  return spread.stddev();
}

}  // namespace

CostModel::CostModel(Reading reading, QObject* parent) : QAbstractItemModel(parent), reading_(reading) {
  start_over();
}

CostModel::~CostModel() = default;  // stops the thread and waits for it

void CostModel::start_over() {
  items_.assign(1, {});
}

void CostModel::show(const CallTree* tree) {
  stop_counting();
  beginResetModel();
  tree_ = tree;
  rows_ = tree ? make_rows(reading_, *tree) : nullptr;
  zoomed_ = kNone;
  thread_costs_.reset();
  spreads_.clear();
  found_.clear();
  names_.assign(tree ? tree->frames.size() : 0, {});
  if (tree) {
    metric_ = std::min(metric_, tree->metrics() > 0 ? tree->metrics() - 1 : 0);
    // Positions of metrics are those of this tree.
    const std::vector<Column> known = known_columns(*tree);
    std::vector<Column> kept;
    for (const Column& column : columns_) {
      const auto at = std::find_if(known.begin(), known.end(),
                                   [&](const Column& other) { return other.key == column.key; });
      if (at != known.end()) kept.push_back(*at);
      if (column.kind != ColumnKind::Derived) continue;
      try {
        kept.push_back(derived_column(*tree, column.title, QString::fromStdString(column.formula->text())));
      } catch (const FormulaError&) {
        // Its metric is zero everywhere now.
      }
    }
    columns_ = kept;
  }
  start_over();
  endResetModel();
}

std::unique_ptr<CostModel> CostModel::copy() const {
  auto copy = std::make_unique<CostModel>(reading_);
  copy->show(tree_);
  copy->columns_ = columns_;
  copy->metric_ = metric_;
  copy->threshold_ = threshold_;
  copy->zoomed_ = zoomed_;
  copy->sorted_by_ = sorted_by_;
  copy->order_ = order_;
  return copy;
}

void CostModel::set_metric(size_t metric) {
  if (metric == metric_) return;
  metric_ = metric;
  const int place = column_of("place");
  if (place < 0) return;
  for (const Item& item : items_)
    if (!item.children.empty())
      emit dataChanged(index_of_item(item.children.front(), place),
                       index_of_item(item.children.back(), place));
}

void CostModel::set_threshold(double percent) {
  if (percent == threshold_) return;
  beginResetModel();
  threshold_ = percent;
  start_over();
  endResetModel();
}

void CostModel::zoom(uint32_t row) {
  if (row == zoomed_) return;
  beginResetModel();
  zoomed_ = row;
  start_over();
  endResetModel();
}

void CostModel::set_found(std::vector<bool> frames) {
  found_ = std::move(frames);
  for (const Item& item : items_)
    if (!item.children.empty())
      emit dataChanged(index_of_item(item.children.front()), index_of_item(item.children.back()),
                       {kFoundRole});
}

int CostModel::column_of(const QString& key) const {
  for (size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].key == key) return static_cast<int>(c);
  return -1;
}

void CostModel::insert_column(int position, Column column) {
  beginInsertColumns({}, position, position);
  columns_.insert(columns_.begin() + position, std::move(column));
  endInsertColumns();
}

void CostModel::remove_column(int position) {
  beginRemoveColumns({}, position, position);
  columns_.erase(columns_.begin() + position);
  endRemoveColumns();
}

uint32_t CostModel::item_of(const QModelIndex& index) const {
  return index.isValid() ? static_cast<uint32_t>(index.internalId()) : kAbove;
}

QModelIndex CostModel::index_of_item(uint32_t item, int column) const {
  return item == kAbove ? QModelIndex() : createIndex(static_cast<int>(items_[item].position), column, item);
}

uint32_t CostModel::row_of(const QModelIndex& index) const {
  return index.isValid() ? items_[item_of(index)].row : kNone;
}

QModelIndex CostModel::index_of(uint32_t row) {
  if (!rows_) return {};
  std::vector<uint32_t> path;  // from the row up to the table's root
  for (uint32_t at = row;; at = rows_->parent(at)) {
    if (at == kNone) {
      if (zoomed_ != kNone) return {};
      break;
    }
    if (!is_shown(*rows_, *tree_, at, threshold_)) return {};
    path.push_back(at);
    if (at == zoomed_) break;
  }
  QModelIndex index;
  for (auto step = path.rbegin(); step != path.rend(); ++step) {
    if (canFetchMore(index)) fetchMore(index);
    const std::vector<uint32_t>& children = items_[item_of(index)].children;
    const auto at = std::find_if(children.begin(), children.end(),
                                 [&](uint32_t child) { return items_[child].row == *step; });
    if (at == children.end()) return {};
    index = index_of_item(*at);
  }
  return index;
}

const QString& CostModel::name_of(uint32_t frame) const {
  std::optional<QString>& name = names_[frame];
  if (!name) name = QString::fromStdString(frame_name(*tree_->database, tree_->frames[frame]));
  return *name;
}

std::vector<uint32_t> CostModel::found_rows() {
  if (!rows_ || found_.empty()) return {};
  if (reading_ == Reading::TopDown) return rows_->rows_of(found_);
  if (canFetchMore({})) fetchMore({});
  std::vector<uint32_t> rows;
  for (const uint32_t child : items_[kAbove].children)
    if (found_[rows_->frame(items_[child].row)]) rows.push_back(items_[child].row);
  return rows;
}

QModelIndex CostModel::index(int row, int column, const QModelIndex& parent) const {
  if (row < 0 || column < 0 || column >= columnCount() || parent.column() > 0) return {};
  const Item& above = items_[item_of(parent)];
  if (row >= static_cast<int>(above.children.size())) return {};
  return createIndex(row, column, above.children[static_cast<size_t>(row)]);
}

QModelIndex CostModel::parent(const QModelIndex& index) const {
  return index.isValid() ? index_of_item(items_[item_of(index)].parent) : QModelIndex();
}

int CostModel::rowCount(const QModelIndex& parent) const {
  return parent.column() > 0 ? 0 : static_cast<int>(items_[item_of(parent)].children.size());
}

int CostModel::columnCount(const QModelIndex&) const {
  return static_cast<int>(columns_.size());
}

bool CostModel::hasChildren(const QModelIndex& parent) const {
  if (!rows_ || parent.column() > 0) return false;
  const Item& item = items_[item_of(parent)];
  if (item.is_loaded) return !item.children.empty();
  return item.row == kNone ? !rows_->roots().empty() : rows_->has_children(item.row);
}

bool CostModel::canFetchMore(const QModelIndex& parent) const {
  return rows_ && parent.column() <= 0 && !items_[item_of(parent)].is_loaded;
}

std::vector<uint32_t> CostModel::rows_below(const Item& item) const {
  std::vector<uint32_t> rows;
  if (item.row != kNone)
    rows = rows_->children(item.row);
  else if (zoomed_ != kNone)
    rows = {zoomed_};
  else
    rows = rows_->roots();
  std::erase_if(rows, [this](uint32_t row) { return !is_shown(*rows_, *tree_, row, threshold_); });
  return rows;
}

void CostModel::fetchMore(const QModelIndex& parent) {
  if (!canFetchMore(parent)) return;
  const uint32_t above = item_of(parent);
  const std::vector<uint32_t> rows = rows_below(items_[above]);
  if (rows.empty()) {
    items_[above].is_loaded = true;
    return;
  }
  beginInsertRows(parent, 0, static_cast<int>(rows.size()) - 1);
  std::vector<uint32_t> children;
  for (const uint32_t row : rows) {
    children.push_back(static_cast<uint32_t>(items_.size()));
    items_.push_back({row, above, 0, false, {}});
  }
  items_[above].is_loaded = true;
  items_[above].children = std::move(children);
  sort_children(items_[above]);
  endInsertRows();
}

void CostModel::sort_children(Item& item) {
  const size_t count = item.children.size();
  if (const int by_column = sorted_column(); by_column >= 0) {
    const Column& column = columns_[static_cast<size_t>(by_column)];
    const bool rises = order_ == Qt::AscendingOrder;
    std::vector<uint32_t> order(count);
    for (uint32_t i = 0; i < count; ++i) order[i] = i;
    const auto by = [&](const auto& keys) {
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return rises ? keys[a] < keys[b] : keys[b] < keys[a]; });
    };
    if (column.is_number()) {
      std::vector<double> keys;
      for (const uint32_t child : item.children) {
        const double key = sort_key(items_[child].row, column);
        keys.push_back(std::isnan(key) ? -HUGE_VAL : key);  // values without an order come last
      }
      by(keys);
    } else {
      std::vector<QString> keys;
      for (const uint32_t child : item.children) keys.push_back(text(items_[child].row, column));
      by(keys);
    }
    std::vector<uint32_t> sorted;
    for (const uint32_t i : order) sorted.push_back(item.children[i]);
    item.children = std::move(sorted);
  }
  for (uint32_t i = 0; i < count; ++i) items_[item.children[i]].position = i;
}

void CostModel::sort(int column, Qt::SortOrder order) {
  if (column < 0 || column >= columnCount()) return;
  sorted_by_ = columns_[static_cast<size_t>(column)].key;
  order_ = order;
  if (!rows_) return;
  emit layoutAboutToBeChanged({}, VerticalSortHint);
  const QModelIndexList before = persistentIndexList();
  for (Item& item : items_)
    if (item.children.size() > 1) sort_children(item);
  QModelIndexList after;
  for (const QModelIndex& index : before) after << index_of_item(item_of(index), index.column());
  changePersistentIndexList(before, after);
  emit layoutChanged({}, VerticalSortHint);
}

const ThreadSpread* CostModel::spread(uint32_t row, size_t metric) const {
  if (!thread_costs_) {
    if (is_complete() && !not_counted_) count_by_thread();
    return nullptr;
  }
  const auto [at, is_new] = spreads_.try_emplace({row, metric});
  if (is_new) at->second = thread_costs_->spread(rows_->instances(row), metric);
  return &at->second;
}

void CostModel::count_by_thread() const {
  counting_ = std::jthread([this, tree = tree_, turn = ++turn_](const std::stop_token& stop) {
    try {
      counted_ = std::make_unique<ThreadCosts>(*tree, stop);
    } catch (const std::exception&) {
      not_counted_ = std::current_exception();  // the file of the database has changed
    }
    auto* const self = const_cast<CostModel*>(this);  // its views are notified
    QMetaObject::invokeMethod(
        self, [self, turn] { self->show_counts(turn); }, Qt::QueuedConnection);
  });
}

void CostModel::stop_counting() {
  ++turn_;
  counting_ = {};
  counted_.reset();
  not_counted_ = nullptr;
}

void CostModel::take_counts() const {
  if (thread_costs_) return;
  if (is_complete() && !counted_ && !not_counted_) count_by_thread();
  if (!is_complete()) counting_.join();
  if (not_counted_) std::rethrow_exception(not_counted_);
  thread_costs_ = std::move(counted_);
}

void CostModel::show_counts(uint64_t turn) {
  if (turn != turn_) return;
  if (!is_complete()) counting_.join();
  if (!not_counted_) take_counts();
  const int by_column = sorted_column();
  if (by_column >= 0 && columns_[static_cast<size_t>(by_column)].kind == ColumnKind::Spread)
    sort(by_column, order_);
  for (const Item& item : items_)
    if (!item.children.empty())
      emit dataChanged(index_of_item(item.children.front()),
                       index_of_item(item.children.back(), columnCount() - 1));
  if (not_counted_) std::rethrow_exception(not_counted_);  // reported to the sender of the event
}

double CostModel::number(uint32_t row, const Column& column) const {
  switch (column.kind) {
    case ColumnKind::Cost: {
      const Cost cost = rows_->cost(row, column.metric);
      return column.is_inclusive ? cost.inclusive : cost.exclusive;
    }
    case ColumnKind::Spread: {
      const ThreadSpread* const threads = spread(row, column.metric);
      if (!threads) return 0;
      return value_of(column.is_inclusive ? threads->inclusive : threads->exclusive, column.part);
    }
    case ColumnKind::Derived:
      return column.formula->value([&](size_t metric) { return rows_->cost(row, metric); });
    case ColumnKind::Change:
      return ChangeCell(*tree_, *rows_, row, column).number();
    default:
      return 0;
  }
}

// Differences are sorted by their size.
double CostModel::sort_key(uint32_t row, const Column& column) const {
  const double value = number(row, column);
  return column.kind == ColumnKind::Change && column.change == ChangePart::Difference ? std::abs(value)
                                                                                      : value;
}

QString CostModel::text(uint32_t row, const Column& column) const {
  const Database& database = *tree_->database;
  const uint32_t frame = rows_->frame(row);
  switch (column.kind) {
    case ColumnKind::Function:
      return name_of(frame) + (rows_->is_inlined(row) ? " [inlined]" : "");
    case ColumnKind::Place:
      return QString::fromStdString(
          format_location(database, rows_->location(row, placed_by(*tree_, *rows_, row, metric_))));
    case ColumnKind::Module:
      return QString::fromStdString(format_module(database, tree_->frames[frame]));
    case ColumnKind::Derived: {
      constexpr int kDigits = 4;
      const double value = number(row, column);
      return std::isfinite(value) ? QString::number(value, 'g', kDigits) : QString();
    }
    case ColumnKind::Spread: {
      const double value = number(row, column);
      if (!thread_costs_) return is_complete() ? "unknown" : "...";
      return value == 0 ? QString() : quantity(tree_->metric(column.metric), value);
    }
    case ColumnKind::Change:
      return ChangeCell(*tree_, *rows_, row, column).text();
    case ColumnKind::Cost:
      break;
  }
  const double value = number(row, column);
  if (value == 0) return {};
  return quantity(tree_->metric(column.metric), value) + "  " + percent(tree_->share(value, column.metric));
}

QString CostModel::tip(uint32_t row, const Column& column) const {
  const Database& database = *tree_->database;
  switch (column.kind) {
    case ColumnKind::Function:
      return text(row, column);
    case ColumnKind::Place: {
      const SourceLocation location = rows_->location(row, placed_by(*tree_, *rows_, row, metric_));
      if (!location.known()) return "no source line is known";
      return QString::fromStdString(database.files[location.file].path) + ":" +
             QString::number(location.line);
    }
    case ColumnKind::Module: {
      const uint32_t module = tree_->frames[rows_->frame(row)].module;
      return module < database.modules.size() ? QString::fromStdString(database.modules[module].path)
                                              : QString();
    }
    case ColumnKind::Derived:
      return column.meaning + "\n" + QString::number(number(row, column), 'g', 9);
    case ColumnKind::Change:
      return ChangeCell(*tree_, *rows_, row, column).tip();
    default:
      break;
  }
  const Metric& metric = tree_->metric(column.metric);
  const double value = number(row, column);
  if (column.kind == ColumnKind::Spread && !thread_costs_) return column.title + ": being computed";
  QString words = column.title + ": " + exact_quantity(metric, value);
  if (column.kind == ColumnKind::Cost && value > 0)
    words += ", " + percent(tree_->share(value, column.metric)) + " of " +
             exact_quantity(metric, tree_->totals[column.metric]);
  return words;
}

QVariant CostModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const uint32_t row = row_of(index);
  const Column& column = columns_[static_cast<size_t>(index.column())];
  if (column.kind == ColumnKind::Change && role >= Qt::UserRole)
    return ChangeCell(*tree_, *rows_, row, column).data(role);
  switch (role) {
    case Qt::DisplayRole:
      return text(row, column);
    case Qt::ToolTipRole:
      return tip(row, column);
    case Qt::TextAlignmentRole:
      return column.is_number() ? QVariant(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case kExactRole:
      if (column.kind == ColumnKind::Spread) take_counts();
      return column.is_number() ? QVariant(number(row, column)) : QVariant();
    case kShareRole:
      return column.kind == ColumnKind::Cost ? QVariant(tree_->share(number(row, column), column.metric))
                                             : QVariant();
    case kQuantityRole: {
      if (column.kind != ColumnKind::Cost) return {};
      const double value = number(row, column);
      return value == 0 ? QString() : quantity(tree_->metric(column.metric), value);
    }
    case kFoundRole:
      return !found_.empty() && column.kind == ColumnKind::Function && found_[rows_->frame(row)];
    default:
      return {};
  }
}

QVariant CostModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) return {};
  const Column& column = columns_[static_cast<size_t>(section)];
  if (role == Qt::DisplayRole) return column.title;
  if (role == Qt::ToolTipRole) return column.meaning;
  if (role == Qt::TextAlignmentRole)
    return column.is_number() ? QVariant(Qt::AlignRight | Qt::AlignVCenter)
                              : QVariant(Qt::AlignLeft | Qt::AlignVCenter);
  return {};
}

}  // namespace prof::viewer
