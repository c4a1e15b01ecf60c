#include "viewer/tables/rows.h"

#include "viewer/tables/bottom_up_rows.h"
#include "viewer/tables/flat_rows.h"
#include "viewer/tables/top_down_rows.h"

namespace prof::viewer {

std::unique_ptr<Rows> make_rows(Reading reading, const CallTree& tree) {
  switch (reading) {
    case Reading::TopDown:
      return std::make_unique<TopDownRows>(tree);
    case Reading::BottomUp:
      return std::make_unique<BottomUpRows>(tree);
    case Reading::Flat:
      break;
  }
  return std::make_unique<FlatRows>(tree);
}

bool is_difference(const CallTree& tree) {
  return tree.metrics() > 0 &&
         std::ranges::any_of(tree.costs_of(0), [](const Cost& cost) { return cost.inclusive < 0; });
}

bool has_weight(Rows& rows, const CallTree& tree, uint32_t row) {
  for (size_t m = 0; m < tree.metrics(); ++m)
    if (rows.weight(row, m) != 0) return true;
  return false;
}

size_t placed_by(const CallTree& tree, Rows& rows, uint32_t row, size_t metric) {
  if (!tree.compared || rows.cost(row, metric).inclusive > 0) return metric;
  return metric + tree.compared->count;
}

bool is_shown(Rows& rows, const CallTree& tree, uint32_t row, double threshold_percent) {
  if (const std::vector<bool>* const shown = rows.shown_rows(threshold_percent)) return (*shown)[row];
  if (threshold_percent <= 0) return rows.costs_anything(row);
  for (size_t m = 0; m < tree.metrics(); ++m)
    if (passes(tree, rows.weight(row, m), m, threshold_percent)) return true;
  return false;
}

}  // namespace prof::viewer
