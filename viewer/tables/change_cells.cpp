#include "viewer/tables/change_cells.h"

#include <cmath>
#include <limits>

#include "analysis/views/compare/format_comparison.h"
#include "viewer/document/words.h"
#include "viewer/tables/cost_model.h"
#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

std::vector<Cost> costs_of(const CallTree& tree, Rows& rows, uint32_t row) {
  std::vector<Cost> costs;
  for (size_t m = 0; m < tree.metrics(); ++m) costs.push_back(rows.cost(row, m));
  return costs;
}

}  // namespace

ChangeCell::ChangeCell(const CallTree& tree, Rows& rows, uint32_t row, const Column& column)
    : tree_(tree), column_(column) {
  const std::vector<Cost> costs = costs_of(tree, rows, row);
  change_ = change_of(*tree.compared, costs, column.metric, column.is_inclusive);
  presence_ = presence_of(*tree.compared, costs);
}

double ChangeCell::number() const {
  switch (column_.change) {
    case ChangePart::Before:
      return change_.before;
    case ChangePart::After:
      return change_.after;
    case ChangePart::Difference:
      return change_.is_same() ? 0 : change_.difference();
    case ChangePart::Ratio:
      break;
  }
  if (change_.before > 0) return change_.after / change_.before;
  return change_.after > 0 ? std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
}

// Returns the reason why the cost of this run is not a number, or empty.
QString ChangeCell::missing() const {
  const Compared& compared = *tree_.compared;
  const bool is_before = column_.change == ChangePart::Before;
  if (!is_before && column_.change != ChangePart::After) return {};
  const bool was_measured =
      is_before ? compared.was_measured_before(column_.metric) : compared.was_measured_after(column_.metric);
  if (!was_measured) return "not measured";
  return presence_ == (is_before ? Presence::OnlyAfter : Presence::OnlyBefore) ? "not present" : QString();
}

bool ChangeCell::is_there() const {
  return missing().isEmpty();
}

int ChangeCell::sign() const {
  const bool is_change = column_.change == ChangePart::Difference || column_.change == ChangePart::Ratio;
  return !is_change || change_.is_same() ? 0 : change_.difference() > 0 ? 1 : -1;
}

// Returns the share of the run's total. For differences it is relative to the total before, or after if there
// was nothing before.
double ChangeCell::share() const {
  const Compared& compared = *tree_.compared;
  const double before = tree_.totals[compared.before(column_.metric)];
  const double after = tree_.totals[compared.after(column_.metric)];
  const bool is_of_after = column_.change == ChangePart::After || before <= 0;
  const double total = is_of_after ? after : before;
  return total > 0 ? std::abs(number()) / total : 0;
}

QString ChangeCell::quantity_text() const {
  const Metric& metric = tree_.metric(column_.metric);
  if (column_.change == ChangePart::Ratio) return QString::fromStdString(format_ratio(change_, presence_));
  if (column_.change == ChangePart::Difference) {
    if (change_.before == 0 && change_.after == 0) return {};
    return QString::fromStdString(format_difference(metric, change_));
  }
  if (!is_there()) return missing();
  return number() == 0 ? "0" : quantity(metric, number());
}

QString ChangeCell::text() const {
  const QString words = quantity_text();
  if (column_.change == ChangePart::Ratio || !is_there() || number() == 0) return words;
  return words + "  " + signed_percent(share(), sign());
}

QString ChangeCell::tip() const {
  const Metric& metric = tree_.metric(column_.metric);
  const auto side = [&](bool is_before, double value) {
    const Compared& compared = *tree_.compared;
    const bool was_measured = is_before ? compared.was_measured_before(column_.metric)
                                        : compared.was_measured_after(column_.metric);
    const QString name = is_before ? "before: " : "after: ";
    if (!was_measured) return name + "not measured";
    if (presence_ == (is_before ? Presence::OnlyAfter : Presence::OnlyBefore)) return name + "not present";
    return name + exact_quantity(metric, value);
  };
  QString words = QString::fromStdString(metric.name) +
                  (column_.is_inclusive ? ", with callees\n" : ", self\n") + side(true, change_.before) +
                  "\n" + side(false, change_.after) +
                  "\ndifference: " + exact_quantity(metric, change_.is_same() ? 0 : change_.difference());
  if (change_.before > 0 && change_.after > 0)
    words += "\nratio: " + QString::number(change_.after / change_.before, 'g', 6);
  const std::string scale = format_scale(tree_, column_.metric);
  return scale.empty() ? words : words + "\n" + QString::fromStdString(scale);
}

QVariant ChangeCell::data(int role) const {
  const bool is_ratio = column_.change == ChangePart::Ratio;
  switch (role) {
    case kExactRole:
      // Without a number the text is exported.
      return is_there() && std::isfinite(number()) && (!is_ratio || change_.after > 0) ? QVariant(number())
                                                                                       : QVariant();
    case kShareRole:
      return is_ratio || !is_there() ? QVariant() : QVariant(share());
    case kQuantityRole:
      return quantity_text();
    case kSignRole:
      return is_ratio ? QVariant(change_.share()) : QVariant(sign());
    default:
      return {};
  }
}

}  // namespace prof::viewer
