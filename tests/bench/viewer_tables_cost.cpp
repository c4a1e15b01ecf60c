// Prints how long the viewer's tables and flame graph take with a million contexts, and with twenty metrics
// for them, in milliseconds. With a directory: prints how long a database in it with twenty metrics takes to
// open and show. The database is created if it is missing, which takes half a minute and 5 GB. Not a test:
// run by hand.

#include <fmt/format.h>

#include <QApplication>
#include <QHeaderView>
#include <QTreeView>
#include <algorithm>
#include <chrono>

#include "analysis/database/database.h"
#include "tests/analysis/database/files.h"
#include "tests/bench/large_database.h"
#include "viewer/document/other_run.h"
#include "viewer/flame/flame_page.h"
#include "viewer/tables/cost_delegate.h"
#include "viewer/tables/table_page.h"

using namespace prof;
using namespace prof::viewer;

namespace {

constexpr size_t kMetrics = 20;
constexpr int kTurns = 11;

template <class Act>
double once(Act&& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void print(const std::string& what, double ms) {
  fmt::print("{:<64} {:9.1f} ms\n", what, ms);
}

template <class Act>
void print_turns(const std::string& what, Act&& act) {
  std::vector<double> turns;
  for (int i = 0; i < kTurns; ++i) turns.push_back(once([&] { act(i); }));
  std::sort(turns.begin(), turns.end());
  print(what + ", median", turns[kTurns / 2]);
  print(what + ", worst", turns.back());
}

// Returns the same tree with more metrics, each a little heavier than the previous one.
CallTree widened(const CallTree& tree, Database& database) {
  CallTree wide = tree;
  database = *tree.database;
  database.metrics.clear();
  wide.selection.metrics.clear();
  for (uint32_t m = 0; m < kMetrics; ++m) {
    database.metrics.push_back({fmt::format("METRIC{}", m), "", ""});
    wide.selection.metrics.push_back(m);
  }
  wide.by_context.clear();
  for (size_t m = 0; m < kMetrics; ++m) {
    std::vector<Cost>& column = wide.by_context.emplace_back(tree.by_context[0]);
    for (Cost& cost : column) {
      cost.inclusive *= static_cast<double>(m + 1);
      cost.exclusive *= static_cast<double>(m + 1);
    }
  }
  wide.costs = LazyColumns(kMetrics, {});
  wide.totals.clear();
  for (size_t m = 0; m < kMetrics; ++m) wide.totals.push_back(tree.totals[0] * static_cast<double>(m + 1));
  wide.database = &database;
  return wide;
}

void measure_tables(const CallTree& tree) {
  for (const auto& [reading, name] :
       {std::pair{Reading::TopDown, "top-down"}, std::pair{Reading::BottomUp, "bottom-up"},
        std::pair{Reading::Flat, "flat"}}) {
    CostModel model(reading);
    QTreeView view;
    view.setUniformRowHeights(true);
    view.setItemDelegate(new CostDelegate(&view));
    view.resize(1280, 800);
    print(fmt::format("{}, {} metrics: first view", name, tree.metrics()), once([&] {
            model.show(&tree);
            for (const Column& column : known_columns(tree))
              if (column.kind != ColumnKind::Spread) model.insert_column(model.columnCount(), column);
            view.setModel(&model);
            view.setSortingEnabled(true);
            view.sortByColumn(model.column_of(cost_key(tree, 0, false)), Qt::DescendingOrder);
            model.fetchMore({});
            view.show();
            view.grab();
          }));
    const int rows = model.rowCount();
    print_turns(fmt::format("{}, {} metrics: sorts {} rows, and paints", name, tree.metrics(), rows),
                [&](int turn) {
                  view.sortByColumn(3 + turn, turn % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
                  view.grab();
                });
  }
}

// Sorts the rows of a level as a user would: by the columns that are shown.
void measure_page(Document& document, Reading reading) {
  const char* const name = reading == Reading::TopDown    ? "top-down"
                           : reading == Reading::BottomUp ? "bottom-up"
                                                          : "flat";
  TablePage page(reading, document);
  page.resize(1280, 800);
  print(fmt::format("{}: first view", name), once([&] {
          page.show();
          page.grab();
        }));
  auto* const view = page.findChild<QTreeView*>();
  const int columns = page.model().columnCount();
  print_turns(fmt::format("{}: sorts what is open, and paints", name), [&](int turn) {
    view->sortByColumn(columns - 1 - turn % 4, turn % 2 == 0 ? Qt::AscendingOrder : Qt::DescendingOrder);
    page.grab();
  });
  auto* const search = page.findChild<QLineEdit*>("search");
  print_turns(fmt::format("{}: searches functions", name),
              [&](int turn) { search->setText(QString("function.*%1$").arg(turn)); });
}

void measure_wide(const std::filesystem::path& directory) {
  if (!is_database(directory)) {
    write_database(test::large_database(kMetrics), directory, 2);
    fmt::print("made {}; run again to measure\n", directory.string());
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  Document document(directory);
  print(fmt::format("opens a million contexts, {} metrics", document.tree().metrics()),
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  for (const Reading reading : {Reading::TopDown, Reading::Flat, Reading::BottomUp})
    measure_page(document, reading);
}

}  // namespace

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  const test::TemporaryDirectory folder;
  qputenv("XDG_CONFIG_HOME", folder.path().c_str());
  QApplication application(argc, argv);
  if (argc > 1) {
    measure_wide(argv[1]);
    return 0;
  }
  const std::filesystem::path directory = folder.path() / "database";
  write_database(test::large_database(), directory);
  std::optional<Document> document;
  print("opens a million contexts", once([&] { document.emplace(directory); }));

  TablePage page(Reading::TopDown, *document);
  page.resize(1280, 800);
  print("top-down page: first view, hot path open", once([&] {
          page.show();
          page.grab();
        }));
  print("statistics over threads: first column", once([&] {
          const std::vector<Column> all = known_columns(document->tree());
          const auto mean = std::find_if(
              all.begin(), all.end(), [](const Column& column) { return column.kind == ColumnKind::Spread; });
          page.model().insert_column(1, *mean);
          page.grab();
        }));
  auto* const search = page.findChild<QLineEdit*>("search");
  print_turns("searches functions", [&](int turn) { search->setText(QString("function.*%1$").arg(turn)); });
  print_turns("goes to the next one", [&](int) {
    page.go_to_found(true);
    page.grab();
  });

  FlamePage flames(*document);
  flames.resize(1280, 800);
  print("flame graph: first view", once([&] {
          flames.show();
          flames.grab();
        }));
  print_turns("flame graph: paints again", [&](int) { flames.flames().grab(); });

  std::shared_ptr<const OtherRun> other;
  PreparedTree prepared{nullptr, document->shared_measured_tree(), {}};
  print("two runs of a million contexts: read and matched",
        once([&] { other = read_other_run(document->database(), directory); }));
  print("two runs: the tree of both",
        once([&] { prepared.tree = compare_runs(other, *prepared.measured, prepared.options); }));
  print("two runs: shown top-down and as a flame graph", once([&] {
          document->compare_with(other, {}, &prepared);
          page.grab();
          flames.grab();
        }));
  document->end_comparison();
  print_turns("flame graph: lays out for another width", [&](int turn) { flames.resize(1281 + turn, 800); });
  print("flame graph of callers: first view", once([&] {
          flames.findChild<QComboBox*>("direction")->setCurrentIndex(1);
          flames.grab();
        }));
  print_turns("flame graph of callers: paints again", [&](int) { flames.flames().grab(); });

  Database database;
  const CallTree tree = widened(document->tree(), database);
  measure_tables(tree);
}
