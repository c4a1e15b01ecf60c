#pragma once
// Costs by metric. Each column is computed when it is first used, by whichever thread uses it: few of many
// metrics are viewed. Copies share their columns, which must not change.

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/views/tree/selection.h"

namespace prof {

class LazyColumns {
 public:
  LazyColumns() = default;
  // The first columns are known.
  LazyColumns(size_t count, CostColumns known) : columns_(std::make_shared<std::vector<Column>>(count)) {
    for (size_t i = 0; i < known.size(); ++i) {
      (*columns_)[i].costs = std::move(known[i]);
      (*columns_)[i].is_known = true;
    }
  }

  template <class Compute>
  const std::vector<Cost>& of(size_t index, Compute&& compute) const {
    Column& column = (*columns_)[index];
    if (!column.is_known.load(std::memory_order_acquire)) {
      const std::lock_guard guard(column.lock);
      if (!column.is_known.load(std::memory_order_relaxed)) {
        column.costs = compute();
        column.is_known.store(true, std::memory_order_release);
      }
    }
    return column.costs;
  }

 private:
  struct Column {
    std::atomic<bool> is_known{false};
    std::mutex lock;
    std::vector<Cost> costs;
  };
  std::shared_ptr<std::vector<Column>> columns_;
};

}  // namespace prof
