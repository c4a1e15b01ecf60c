#pragma once
// A call tree as a table of costs. Children are loaded when they are requested; only loaded rows are sorted.

#include <QAbstractItemModel>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "analysis/views/compare/comparison.h"
#include "analysis/views/tree/thread_costs.h"
#include "viewer/tables/columns.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

// Roles of an item: its share (0..1) of the total, if it has one; and true if a search found it.
constexpr int kShareRole = Qt::UserRole + 2;
constexpr int kFoundRole = Qt::UserRole + 3;
// Role of a cost: its text without the share.
constexpr int kQuantityRole = Qt::UserRole + 4;
// Role of a difference between two runs: 1 is more, -1 less, 0 neither. For the cost of one run: 0. For
// ratios: -1..1, the difference divided by the larger cost.
constexpr int kSignRole = Qt::UserRole + 5;

class CostModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  explicit CostModel(Reading reading, QObject* parent = nullptr);
  ~CostModel() override;

  // Shows a tree, which must live until another one is shown; nullptr: nothing is shown. Keeps columns whose
  // metrics still exist.
  void show(const CallTree* tree);
  // Returns a model with the same rows and columns in the same order, with nothing loaded.
  std::unique_ptr<CostModel> copy() const;
  // Sets the metric by which source locations are selected.
  void set_metric(size_t metric);
  // Hides rows below this share (0..100) of every metric.
  void set_threshold(double percent);
  // Shows only this row (of Rows) and those below it; kNone: all.
  void zoom(uint32_t row);
  uint32_t zoomed() const { return zoomed_; }
  // One flag per frame for search results; empty: nothing is marked.
  void set_found(std::vector<bool> frames);

  const std::vector<Column>& columns() const { return columns_; }
  int column_of(const QString& key) const;  // -1: not shown
  // The column by which the rows are sorted; -1: none, or a removed one.
  int sorted_column() const { return column_of(sorted_by_); }
  const QString& sorted_key() const { return sorted_by_; }
  Qt::SortOrder sort_order() const { return order_; }
  void insert_column(int position, Column column);
  void remove_column(int position);

  // Returns kNone for an invalid index.
  uint32_t row_of(const QModelIndex& index) const;
  // Loads the ancestors of the row. Returns an invalid index if the row is not shown because of the threshold
  // or the zoom.
  QModelIndex index_of(uint32_t row);
  Rows* rows() const { return rows_.get(); }
  const QString& name_of(uint32_t frame) const;
  // Returns false while statistics over threads are computed in the background for a column that shows them.
  // Their texts are "..." meanwhile, and exact values (kExactRole) wait for them. If they cannot be read,
  // their texts are "unknown". The error is thrown once into the event loop, and for each exact value.
  bool is_complete() const { return !counting_.joinable(); }
  // Returns the rows that the latest search found, in reading order.
  std::vector<uint32_t> found_rows();

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  bool hasChildren(const QModelIndex& parent = {}) const override;
  bool canFetchMore(const QModelIndex& parent) const override;
  void fetchMore(const QModelIndex& parent) override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order = Qt::AscendingOrder) override;

 private:
  // A loaded row; the first one is the invisible root.
  struct Item {
    uint32_t row = kNone;
    uint32_t parent = 0;
    uint32_t position = 0;
    bool is_loaded = false;
    std::vector<uint32_t> children;
  };

  void start_over();
  std::vector<uint32_t> rows_below(const Item& item) const;
  void sort_children(Item& item);
  uint32_t item_of(const QModelIndex& index) const;
  QModelIndex index_of_item(uint32_t item, int column = 0) const;
  QString text(uint32_t row, const Column& column) const;
  QString tip(uint32_t row, const Column& column) const;
  double number(uint32_t row, const Column& column) const;
  double sort_key(uint32_t row, const Column& column) const;
  // Returns nullptr if not known yet.
  const ThreadSpread* spread(uint32_t row, size_t metric) const;
  void count_by_thread() const;
  void stop_counting();
  // Waits for the counting thread.
  void take_counts() const;
  void show_counts(uint64_t turn);

  const Reading reading_;
  const CallTree* tree_ = nullptr;
  std::unique_ptr<Rows> rows_;
  std::vector<Item> items_;
  std::vector<Column> columns_;
  std::vector<bool> found_;
  size_t metric_ = 0;
  double threshold_ = 0;
  uint32_t zoomed_ = kNone;
  QString sorted_by_;  // key of a column; empty: unsorted
  Qt::SortOrder order_ = Qt::DescendingOrder;
  mutable std::vector<std::optional<QString>> names_;  // per frame
  mutable std::unique_ptr<ThreadCosts> thread_costs_;
  mutable std::map<std::pair<uint32_t, size_t>, ThreadSpread> spreads_;
  mutable std::unique_ptr<ThreadCosts> counted_;  // owned by the thread until it ends
  mutable std::exception_ptr not_counted_;  // why `counted_` is missing; owned by the thread until it ends
  mutable uint64_t turn_ = 0;                     // number of the thread whose end counts
  mutable std::jthread counting_;
};

}  // namespace prof::viewer
