#pragma once
// A call tree as a table of costs. Children are loaded when they are asked for; sorting sorts what is loaded.

#include <QAbstractItemModel>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "analysis/views/comparison.h"
#include "analysis/views/thread_costs.h"
#include "viewer/tables/columns.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

// Of an item: its share (0..1) of all that was measured, where it has one; and true where a search found it.
constexpr int kShareRole = Qt::UserRole + 2;
constexpr int kFoundRole = Qt::UserRole + 3;
// Of a cost: without its share.
constexpr int kQuantityRole = Qt::UserRole + 4;
// Of what differs between two runs: 1 is more, -1 less, 0 neither; of the cost of one of them: 0; of ratios
// -1..1, the difference by the larger cost.
constexpr int kSignRole = Qt::UserRole + 5;

class CostModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  explicit CostModel(Reading reading, QObject* parent = nullptr);
  ~CostModel() override;

  // The tree must outlive its being shown; nullptr: nothing is. Keeps columns whose metrics are still there.
  void show(const CallTree* tree);
  // Another one of the same rows and columns in the same order, of which nothing is loaded.
  std::unique_ptr<CostModel> copy() const;
  // The metric by which places are chosen.
  void set_metric(size_t metric);
  // Rows below this share (0..100) of every metric are not there.
  void set_threshold(double percent);
  // Only this row (of Rows) and what is below it; kNone: all.
  void zoom(uint32_t row);
  uint32_t zoomed() const { return zoomed_; }
  // Per frame: what a search found; empty: nothing is marked.
  void set_found(std::vector<bool> frames);

  const std::vector<Column>& columns() const { return columns_; }
  int column_of(const QString& key) const;  // -1: it is not shown
  // By which column the rows are sorted; -1: by none, as one that was removed.
  int sorted_column() const { return column_of(sorted_by_); }
  const QString& sorted_key() const { return sorted_by_; }
  Qt::SortOrder sort_order() const { return order_; }
  void insert_column(int position, Column column);
  void remove_column(int position);

  // Of an index; kNone for an invalid one.
  uint32_t row_of(const QModelIndex& index) const;
  // Loads the rows above it. Invalid where the row is not shown: below the threshold, outside the zoom.
  QModelIndex index_of(uint32_t row);
  Rows* rows() const { return rows_.get(); }
  const QString& name_of(uint32_t frame) const;
  // False while statistics over threads are computed in the background, for a column that shows them: its
  // texts are "..." then. Exact values (kExactRole) wait for them. Where they cannot be read the texts are
  // "unknown", and that is thrown once into the event loop, and for each exact value.
  bool is_complete() const { return !counting_.joinable(); }
  // Rows that the last search found, in the order of reading.
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
  // A loaded row; the first one stands above all.
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
  // nullptr: not known yet.
  const ThreadSpread* spread(uint32_t row, size_t metric) const;
  void count_by_thread() const;
  void stop_counting();
  // Waits for what counts.
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
  QString sorted_by_;  // the key of a column; empty: as the rows come
  Qt::SortOrder order_ = Qt::DescendingOrder;
  mutable std::vector<std::optional<QString>> names_;  // per frame
  mutable std::unique_ptr<ThreadCosts> thread_costs_;
  mutable std::map<std::pair<uint32_t, size_t>, ThreadSpread> spreads_;
  mutable std::unique_ptr<ThreadCosts> counted_;  // the thread's until it ends
  mutable std::exception_ptr not_counted_;        // why, likewise
  mutable uint64_t turn_ = 0;                     // of the thread whose end counts
  mutable std::jthread counting_;
};

}  // namespace prof::viewer
