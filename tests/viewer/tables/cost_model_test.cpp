#include "viewer/tables/cost_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "analysis/database/read.h"
#include "analysis/views/tree/wording.h"
#include "tests/analysis/database/databases.h"
#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/document/words.h"
#include "viewer/tables/table_text.h"
#include "viewer/window/application.h"

using namespace prof;
using namespace prof::viewer;

namespace {

CallTree tree_of(const Database& database, bool merges = false) {
  return build_call_tree(database, select(database, {}, {}), merges);
}

void show_all(CostModel& model, const CallTree& tree) {
  model.show(&tree);
  for (const Column& column : known_columns(tree)) model.insert_column(model.columnCount(), column);
}

// Collects the rows of a model in reading order, as `prof report` prints those of a view.
void collect(CostModel& model, QModelIndex parent, std::vector<QModelIndex>& rows) {
  while (model.canFetchMore(parent)) model.fetchMore(parent);
  for (int row = 0; row < model.rowCount(parent); ++row) {
    rows.push_back(model.index(row, 0, parent));
    collect(model, rows.back(), rows);
  }
}

void check_equal(CostModel& model, const CallTree& tree, const View& view) {
  std::vector<QModelIndex> rows;
  collect(model, {}, rows);
  REQUIRE(rows.size() == view.rows.size());
  for (size_t r = 0; r < rows.size(); ++r) {
    const Row& row = view.rows[r];
    const std::string name = frame_name(*tree.database, tree.frames[row.frame]);
    CHECK(rows[r].data().toString().toStdString() == name + (row.inlined ? " [inlined]" : ""));
    CHECK(rows[r].siblingAtColumn(1).data().toString().toStdString() ==
          format_location(*tree.database, row.location));
    for (int c = 0; c < model.columnCount(); ++c) {
      const Column& column = model.columns()[static_cast<size_t>(c)];
      if (!column.is_number()) continue;
      const size_t at = r * tree.metrics() + column.metric;
      const ThreadSpread& threads = view.threads[at];
      const Spread& spread = column.is_inclusive ? threads.inclusive : threads.exclusive;
      double expected = column.is_inclusive ? view.costs[at].inclusive : view.costs[at].exclusive;
      if (column.kind == ColumnKind::Spread)
        expected = column.part == SpreadPart::Minimum   ? spread.minimum
                   : column.part == SpreadPart::Maximum ? spread.maximum
                   : column.part == SpreadPart::Mean    ? spread.mean()
                                                        : spread.stddev();
      CHECK(rows[r].siblingAtColumn(c).data(kExactRole).toDouble() == Approx(expected).margin(1e-12));
    }
  }
}

using MakeView = View (*)(const CallTree&, const ViewOptions&);

}  // namespace

TEST_CASE("tables have the rows and values of the views") {
  const auto [reading, make_view] = GENERATE(std::pair<Reading, MakeView>{Reading::TopDown, top_down},
                                             std::pair<Reading, MakeView>{Reading::BottomUp, bottom_up},
                                             std::pair<Reading, MakeView>{Reading::Flat, flat});
  const uint32_t seed = GENERATE(0u, 1u, 2u, 3u);
  const bool merges = GENERATE(false, true);
  const double threshold = GENERATE(0.0, 3.0);
  const Database database = seed == 0 ? test::known_database() : test::random_database(seed, {80, 3, 2, 10});
  const CallTree tree = tree_of(database, merges);
  CostModel model(reading);
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  tester.setUseFetchMore(false);  // it would in the middle of a reset
  show_all(model, tree);
  model.set_threshold(threshold);
  check_equal(model, tree, make_view(tree, {threshold, 0, true}));
}

TEST_CASE(
    "tables of the difference of two profiles have the rows of the views, also where callees cancel out") {
  test::DatabaseBuilder builder;
  builder.metric("samples", "");
  const uint32_t thread = builder.thread(0);
  builder.spend(thread, {{"outer", 1}, {"faster", 2}}, -8);
  builder.spend(thread, {{"outer", 1}, {"slower", 3}}, 8);
  builder.spend(thread, {{"outer", 1}, {"slower", 3}, {"little", 4}}, -1);
  builder.spend(thread, {{"other", 1}}, 20);
  const Database database = builder.build();
  const auto [reading, make_view] = GENERATE(std::pair<Reading, MakeView>{Reading::TopDown, top_down},
                                             std::pair<Reading, MakeView>{Reading::BottomUp, bottom_up},
                                             std::pair<Reading, MakeView>{Reading::Flat, flat});
  const double threshold = GENERATE(0.0, 20.0);
  const CallTree tree = tree_of(database);
  CostModel model(reading);
  show_all(model, tree);
  model.set_threshold(threshold);
  const View view = make_view(tree, {threshold, 0, true});
  check_equal(model, tree, view);
  if (reading == Reading::TopDown) CHECK(view.rows.size() == (threshold > 0 ? 5 : 6));  // "outer" is one
}

TEST_CASE("a level is sorted by any column, and what is chosen stays chosen") {
  const Database database = test::random_database(4, {80, 3, 2, 10});
  const CallTree tree = tree_of(database);
  CostModel model(Reading::BottomUp);
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  tester.setUseFetchMore(false);  // it would in the middle of a reset
  show_all(model, tree);
  std::vector<QModelIndex> rows;
  collect(model, {}, rows);
  const QPersistentModelIndex chosen = rows[rows.size() / 2];
  const QString name = chosen.data().toString();
  const uint32_t row = model.row_of(chosen);
  for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
    for (int column = 0; column < model.columnCount(); ++column) {
      model.sort(column, order);
      REQUIRE(QTest::qWaitFor([&] { return model.is_complete(); }, 20'000));
      CHECK(model.row_of(chosen) == row);
      CHECK(chosen.data().toString() == name);
      const bool is_number = model.columns()[static_cast<size_t>(column)].is_number();
      for (int r = 1; r < model.rowCount(); ++r) {
        const QModelIndex before = model.index(r - 1, column), after = model.index(r, column);
        const bool rises = is_number ? before.data(kExactRole).toDouble() <= after.data(kExactRole).toDouble()
                                     : before.data().toString() <= after.data().toString();
        const bool falls = is_number ? before.data(kExactRole).toDouble() >= after.data(kExactRole).toDouble()
                                     : before.data().toString() >= after.data().toString();
        CHECK((order == Qt::AscendingOrder ? rises : falls));
      }
    }
  }
}

TEST_CASE("children are loaded when they are asked for") {
  const Database database = test::random_database(5, {});
  const CallTree tree = tree_of(database);
  CostModel model(Reading::TopDown);
  show_all(model, tree);
  CHECK(model.rowCount() == 0);
  REQUIRE(model.canFetchMore({}));
  model.fetchMore({});
  REQUIRE(model.rowCount() > 0);
  const QModelIndex first = model.index(0, 0);
  CHECK(model.hasChildren(first));
  CHECK(model.rowCount(first) == 0);
  const auto last = static_cast<uint32_t>(tree.nodes.size() - 1);
  const QModelIndex deep = model.index_of(last);
  if (tree.cost(last, 0).inclusive > 0) CHECK(model.row_of(deep) == last);
}

TEST_CASE("a table zooms into a row") {
  const Database database = test::known_database();
  const CallTree tree = tree_of(database);
  CostModel model(Reading::TopDown);
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  tester.setUseFetchMore(false);  // it would in the middle of a reset
  show_all(model, tree);
  REQUIRE(tree.nodes.size() > 2);
  model.zoom(1);
  model.fetchMore({});
  REQUIRE(model.rowCount() == 1);
  CHECK(model.row_of(model.index(0, 0)) == 1);
  CHECK(!model.index_of(0).isValid());
  CHECK(model.row_of(model.index_of(2)) == 2);
  model.zoom(kNone);
  CHECK(model.row_of(model.index_of(0)) == 0);
}

TEST_CASE("derived metrics are columns like others") {
  const Database database = test::random_database(6, {});
  const CallTree tree = tree_of(database);
  CostModel model(Reading::Flat);
  show_all(model, tree);
  const QString name = QString::fromStdString(tree.metric(0).name);
  model.insert_column(model.columnCount(),
                      derived_column(tree, "twice", "2 * [" + name + "].incl + [" + name + "].excl"));
  model.fetchMore({});
  const int incl = model.column_of(cost_key(tree, 0, true)), excl = model.column_of(cost_key(tree, 0, false));
  for (int row = 0; row < model.rowCount(); ++row) {
    const auto value = [&](int column) { return model.index(row, column).data(kExactRole).toDouble(); };
    CHECK(value(model.columnCount() - 1) == Approx(2 * value(incl) + value(excl)));
  }
}

TEST_CASE("a table is exported as CSV with exact values") {
  const Database database = test::known_database();
  const CallTree tree = tree_of(database);
  CostModel model(Reading::TopDown);
  show_all(model, tree);
  const QTemporaryDir folder;
  const std::filesystem::path file = folder.filePath("table.csv").toStdString();
  write_csv(model, file);
  std::ifstream in(file);
  std::stringstream text;
  text << in.rdbuf();
  const QStringList lines = QString::fromStdString(text.str()).split("\r\n", Qt::SkipEmptyParts);
  const View view = top_down(tree, {0, 0, true});
  REQUIRE(lines.size() == static_cast<int>(view.rows.size()) + 1);
  CHECK(lines[0].startsWith("depth,Function,Place,Module," + QString::fromStdString(tree.metric(0).name)));
  CHECK(lines[1].startsWith("0,"));
}

TEST_CASE("statistics over threads come from the background, and their order with them") {
  const Database database = test::random_database(4, {80, 3, 2, 10});
  const CallTree tree = tree_of(database);
  CostModel model(Reading::Flat);
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  tester.setUseFetchMore(false);
  show_all(model, tree);
  model.fetchMore({});
  int column = 0;
  while (model.columns()[static_cast<size_t>(column)].kind != ColumnKind::Spread) ++column;
  CHECK(model.is_complete());  // not requested yet
  model.sort(column, Qt::DescendingOrder);
  CHECK(!model.is_complete());
  CHECK(model.index(0, column).data().toString() == "...");
  QSignalSpy changed(&model, &CostModel::dataChanged);
  REQUIRE(QTest::qWaitFor([&] { return model.is_complete(); }, 20'000));
  CHECK(!changed.empty());
  CHECK(model.index(0, column).data().toString() != "...");
  for (int row = 1; row < model.rowCount(); ++row)
    CHECK(model.index(row - 1, column).data(kExactRole).toDouble() >=
          model.index(row, column).data(kExactRole).toDouble());

  // Shows another tree while statistics are computed, and then none.
  model.show(&tree);
  model.fetchMore({});
  CHECK(model.index(0, column).data().toString() == "...");
  model.show(nullptr);
  CHECK(model.is_complete());
  QTest::qWait(1);
}

TEST_CASE("statistics that cannot be read are unknown, and said to be once") {
  const test::DatabaseFolder folder(test::random_database(4, {80, 3, 2, 10}));
  const Database database = read_database(folder.path(), ReadValues::WhenAskedFor);
  const CallTree tree = tree_of(database);
  std::filesystem::resize_file(folder.path() / "profile.db", 64);
  CostModel model(Reading::Flat);
  show_all(model, tree);
  model.fetchMore({});
  int column = 0;
  while (model.columns()[static_cast<size_t>(column)].kind != ColumnKind::Spread) ++column;
  int failures = 0;
  auto* const application = static_cast<Application*>(qApp);
  application->tell_failures_to([&](const QString& why) {
    CHECK(why.contains("profile.db"));
    ++failures;
  });
  CHECK(model.index(0, column).data().toString() == "...");
  REQUIRE(QTest::qWaitFor([&] { return failures > 0; }, 20'000));
  CHECK(model.is_complete());
  CHECK(model.index(0, column).data().toString() == "unknown");
  CHECK_THROWS_AS(model.index(0, column).data(kExactRole), DatabaseError);
  QTest::qWait(20);
  CHECK(failures == 1);
  application->tell_failures_to({});
}
