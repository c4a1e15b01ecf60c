#include "viewer/tables/columns.h"

#include <QRegularExpression>
#include <array>

namespace prof::viewer {

namespace {

struct Part {
  SpreadPart part;
  const char *key, *meaning;
};
constexpr std::array kParts = {Part{SpreadPart::Minimum, "min", "minimum over the threads with a value"},
                               Part{SpreadPart::Mean, "mean", "mean over the threads with a value"},
                               Part{SpreadPart::Maximum, "max", "maximum over threads"},
                               Part{SpreadPart::Deviation, "stddev", "standard deviation over threads"}};

struct Compare {
  ChangePart part;
  const char *key, *meaning;
};
constexpr std::array kCompares = {
    Compare{ChangePart::Before, "before", "in the run before"},
    Compare{ChangePart::After, "after", "in the run after"},
    Compare{ChangePart::Difference, "difference", "after minus before; the share is of the total before"},
    Compare{ChangePart::Ratio, "ratio", "after divided by before"}};

QString name_of(const CallTree& tree, size_t metric) {
  return QString::fromStdString(tree.metric(metric).name);
}

QString scope_of(bool is_inclusive) {
  return is_inclusive ? "incl" : "excl";
}

void add_changes(const CallTree& tree, size_t metric, std::vector<Column>& columns) {
  const QString name = name_of(tree, metric);
  for (const bool is_inclusive : {true, false}) {
    const QString what = name + (is_inclusive ? ", with callees: " : ", self: ");
    for (const Compare& compare : kCompares)
      columns.push_back({ColumnKind::Change, change_key(tree, metric, is_inclusive, compare.part),
                         name + " " + scope_of(is_inclusive) + " " + compare.key, what + compare.meaning,
                         metric, is_inclusive, SpreadPart::Mean, compare.part});
  }
}

void add_metric(const CallTree& tree, size_t metric, std::vector<Column>& columns) {
  const QString name = name_of(tree, metric);
  const QString description = QString::fromStdString(tree.metric(metric).description);
  for (const bool is_inclusive : {true, false}) {
    const QString scope = scope_of(is_inclusive);
    const QString what = name + (is_inclusive ? ", with callees" : ", self");
    columns.push_back({ColumnKind::Cost, name + "." + scope, name + " " + scope,
                       description.isEmpty() ? what : what + "\n" + description, metric, is_inclusive});
  }
  for (const bool is_inclusive : {true, false}) {
    const QString scope = scope_of(is_inclusive);
    for (const Part& part : kParts)
      columns.push_back({ColumnKind::Spread, name + "." + scope + "." + part.key,
                         name + " " + scope + " " + part.key, name + " " + scope + ": " + part.meaning,
                         metric, is_inclusive, part.part});
  }
}

}  // namespace

QString cost_key(const CallTree& tree, size_t metric, bool is_inclusive) {
  return name_of(tree, metric) + "." + scope_of(is_inclusive);
}

QString formula_term(const CallTree& tree, size_t metric, bool is_inclusive) {
  const QString name = name_of(tree, metric);
  static const QRegularExpression plain("^[A-Za-z_][A-Za-z0-9_:]*$");
  return (plain.match(name).hasMatch() ? name : "[" + name + "]") + "." + scope_of(is_inclusive);
}

QString change_key(const CallTree& tree, size_t metric, bool is_inclusive, ChangePart part) {
  return cost_key(tree, metric, is_inclusive) + "." + kCompares[static_cast<size_t>(part)].key;
}

QString heaviest_key(const CallTree& tree, size_t metric, bool is_inclusive) {
  return tree.compared ? change_key(tree, metric, is_inclusive, ChangePart::Difference)
                       : cost_key(tree, metric, is_inclusive);
}

std::vector<Column> known_columns(const CallTree& tree) {
  std::vector<Column> columns = {
      {ColumnKind::Function, "function", "Function", "Function name, as in the source"},
      {ColumnKind::Place, "place", "Place", "The most expensive line"},
      {ColumnKind::Module, "module", "Module", "The program or library that contains it"}};
  for (size_t m = 0; m < tree.distinct_metrics(); ++m)
    tree.compared ? add_changes(tree, m, columns) : add_metric(tree, m, columns);
  return columns;
}

Column derived_column(const CallTree& tree, const QString& name, const QString& formula) {
  std::vector<std::string> metrics;
  for (size_t m = 0; m < tree.metrics(); ++m) metrics.push_back(tree.metric(m).name);
  Column column;
  column.kind = ColumnKind::Derived;
  column.key = "=" + name;
  column.title = name;
  column.meaning = name + " = " + formula;
  column.formula = std::make_shared<const Formula>(formula.toStdString(), metrics);
  return column;
}

}  // namespace prof::viewer
