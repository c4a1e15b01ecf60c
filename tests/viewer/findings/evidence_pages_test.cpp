// Locks, stalls and idleness: the contents of the report, row by row.

#include <QLabel>
#include <QTextBrowser>
#include <QTreeView>
#include <catch2/catch.hpp>
#include <map>

#include "analysis/findings/all_findings.h"
#include "analysis/views/run/idleness.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/contended.h"
#include "tests/report/idle_device.h"
#include "tests/report/locked.h"
#include "tests/report/stalled_ranks.h"
#include "tests/viewer/findings/shown.h"
#include "viewer/findings/links.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

// Returns all findings of the shown data, as the summary does.
std::vector<Finding> found(Shown& shown) {
  return all_findings(shown.document().measured_tree(), shown.document().run(), StallOptions{});
}

QModelIndex row_named(const QAbstractItemModel& model, const QString& name) {
  for (int row = 0; row < model.rowCount(); ++row)
    if (model.index(row, 0).data().toString().contains(name)) return model.index(row, 0);
  return {};
}

}  // namespace

TEST_CASE("locks are listed with who waited and who released them") {
  const Database database = locked();
  Shown shown(database, "locks");
  const nlohmann::json report = reported(database, ReportView::Locks);
  const nlohmann::json& lock = report["locks"][0];
  const QModelIndex row = shown.model().index(0, 0);
  CHECK(text(row, 0) == "queue (mutex, sum.cpp:5)");
  CHECK(exact(row, 1) == Approx(lock["waited_s"].get<double>()));
  CHECK(exact(row, 2) == Approx(lock["waits"].get<double>()));
  CHECK(exact(row, 3) == Approx(lock["longest_s"].get<double>()));
  REQUIRE(shown.model().rowCount(row) == 3);
  const QModelIndex waits = shown.model().index(0, 0, row), releases = shown.model().index(1, 0, row),
                    unknown = shown.model().index(2, 0, row);
  CHECK(text(waits, 2) == "40 waits");
  CHECK(text(releases, 2) == "30 releases");
  CHECK(exact(releases, 1) == Approx(lock["holders"][0]["seconds"].get<double>()));
  CHECK(text(unknown, 0) == "released by an unknown call");
  CHECK(exact(unknown, 1) == Approx(0.5));
  CAPTURE(shown.part<QLabel>("sentences").text().toStdString());
  CHECK(shown.part<QLabel>("sentences").text().contains("Threads waited 2.00 s for locks, 20 % of the time"));
  CHECK(shown.part<QTextBrowser>("details").toPlainText().contains("Change:"));
  const QModelIndex others = row_named(shown.model(), "without a lock");
  REQUIRE(others.isValid());
  CHECK(text(shown.model().index(0, 0, others), 0) == "barrier");
}

TEST_CASE("the lock of a finding is chosen") {
  const Database database = locked();
  Shown shown(database, "locks");
  shown.page().table()->setCurrentIndex({});
  const std::vector<Finding> findings = found(shown);
  REQUIRE(!findings.empty());
  shown.document().ask_for_finding("locks", QString::fromStdString(findings[0].id));
  CHECK(shown.page().table()->currentIndex() == shown.model().index(0, 0));
}

TEST_CASE("of locks whose names begin alike the one of the finding is chosen") {
  Database database = locked();
  nlohmann::json run = run_of(database);
  nlohmann::json other = run["locks"]["locks"][0];
  other["name"] = "queue_lock";
  other["waited_s"] = 1.0;
  other["blamed_s"] = 1.0;
  run["locks"]["locks"].push_back(other);
  set_run(database, run);
  Shown shown(database, "locks");
  const std::vector<Finding> findings = found(shown);
  size_t locks = 0;
  for (const Finding& finding : findings) {
    if (finding.kind != FindingKind::Lock) continue;
    ++locks;
    shown.document().ask_for_finding("locks", QString::fromStdString(finding.id));
    CAPTURE(finding.id, finding.sentence);
    const QString chosen = text(shown.page().table()->currentIndex(), 0).section(' ', 0, 0);
    CHECK(QString::fromStdString(finding.sentence).contains("for " + chosen + " ("));
  }
  CHECK(locks == 2);
}

TEST_CASE("a deadlock and threads that are idle lead to their rows") {
  const Database database = deadlocked();
  Shown shown(database, "locks");
  std::map<FindingKind, QString> chosen;
  for (const Finding& finding : found(shown)) {
    shown.page().table()->setCurrentIndex({});
    shown.document().ask_for_finding("locks", QString::fromStdString(finding.id));
    const QModelIndex row = shown.page().table()->currentIndex();
    chosen[finding.kind] = row.parent().data().toString() + ": " + text(row, 0);
  }
  CHECK(chosen[FindingKind::Deadlock].toStdString() == "waiting for a lock when the process ended: first");
  CHECK(chosen[FindingKind::IdleThreads].toStdString() ==
        "worked while other threads waited without a lock: 4 of 6 threads waited");
}

TEST_CASE("findings of stalls and of idleness lead to their rows") {
  for (const auto& [database, id] :
       {std::pair(stalled_ranks(), "stalls"), std::pair(program(), "idleness")}) {
    Shown shown(database, id);
    std::vector<Finding> findings = found(shown);
    std::erase_if(findings,
                  [id = QString(id)](const Finding& one) { return page_of_finding(one.kind) != id; });
    REQUIRE(!findings.empty());
    for (const Finding& finding : findings) {
      CAPTURE(finding.id);
      shown.page().table()->setCurrentIndex({});
      shown.document().ask_for_finding(id, QString::fromStdString(finding.id));
      const QModelIndex row = shown.page().table()->currentIndex();
      REQUIRE(row.isValid());
      const std::string& name = finding.contexts.front().frames.front().function;
      CHECK(row.siblingAtColumn(row.parent().isValid() ? 0 : 4)
                .data()
                .toString()
                .contains(QString::fromStdString(name).remove("__GI___")));
      CHECK(exact(row, 1) == Approx(finding.cost->value));
    }
  }
}

TEST_CASE("pages that know nothing of single threads say so where some are chosen") {
  for (const auto& [database, id] :
       {std::pair(locked(), "locks"), std::pair(counting(both_sides), "contention"),
        std::pair(program(), "idleness")}) {
    Shown shown(database, id);
    const auto& limit = shown.part<QLabel>("limit");
    CAPTURE(id);
    CHECK(limit.isHidden());
    shown.document().choose_threads({0});
    CHECK(limit.isVisible());
    CHECK(limit.text().contains("of all threads", Qt::CaseInsensitive));
    shown.document().choose_all_threads();
    CHECK(limit.isHidden());
  }
}

TEST_CASE("a table that is filled anew stays sorted, open and chosen as it was") {
  Database database = locked();
  nlohmann::json run = run_of(database);
  nlohmann::json other = run["locks"]["locks"][0];
  other["name"] = "small";
  other["waited_s"] = 1.0;
  run["locks"]["locks"].push_back(other);
  set_run(database, run);
  Shown locks(database, "locks");
  auto& table = *static_cast<QTreeView*>(locks.page().table());
  table.sortByColumn(1, Qt::AscendingOrder);
  table.collapse(row_named(locks.model(), "queue"));
  const QModelIndex release = locks.model().index(1, 0, row_named(locks.model(), "small"));
  table.setCurrentIndex(release);
  const QString chosen = text(release, 0);
  locks.document().choose_threads({0});
  CHECK(row_named(locks.model(), "small").row() < row_named(locks.model(), "queue").row());
  CHECK(!table.isExpanded(row_named(locks.model(), "queue")));
  CHECK(table.isExpanded(row_named(locks.model(), "small")));
  CHECK(text(table.currentIndex(), 0) == chosen);
  CHECK(text(table.currentIndex().parent(), 0).startsWith("small"));
}

TEST_CASE("tables end with a whole row, and titles stand above their texts") {
  Shown shown(program(), "idleness");
  QTest::qWait(1);
  const auto& table = *static_cast<QTreeView*>(shown.page().table());
  const int row = table.visualRect(shown.model().index(0, 0)).height();
  REQUIRE(row > 0);
  CHECK(table.viewport()->height() % row == 0);
  CHECK(shown.part<QTextBrowser>("details").height() > 5 * row);
}

TEST_CASE("stalls are listed by what they cost, with the finding above") {
  const Database database = stalled_ranks();
  Shown shown(database, "stalls");
  const nlohmann::json report = reported(database, ReportView::Stalls);
  REQUIRE(shown.model().rowCount() == static_cast<int>(report["stalls"].size()));
  const QModelIndex row = shown.model().index(0, 0);
  const nlohmann::json& thread = report["stalls"][0]["threads"][0];
  CHECK(exact(row, 0) == Approx(thread["begin_s"].get<double>()));
  CHECK(exact(row, 1) == Approx(report["stalls"][0]["lost_s"].get<double>()));
  CHECK(text(row, 2) == "3.0 team");
  CHECK(exact(row, 3) == Approx(thread["end_s"].get<double>() - thread["begin_s"].get<double>()));
  CHECK(shown.part<QLabel>("sentences")
            .text()
            .contains(QString::fromStdString(report["findings"][0]["sentence"].get<std::string>())));
}

TEST_CASE("stalls are found anew among the chosen threads") {
  Shown shown(stalled_ranks(), "stalls");
  REQUIRE(shown.model().rowCount() == 1);
  shown.document().choose_threads({0, 1});
  for (int turn = 0; turn < 1000 && !shown.page().is_complete(); ++turn) QTest::qWait(5);
  QTest::qWait(1);
  CHECK(shown.model().rowCount() == 0);
}

TEST_CASE("a window that closes while stalls are looked for waits for nothing") {
  for (int turn = 0; turn < 5; ++turn) {
    const DatabaseFolder folder(stalled_ranks());
    Document document(folder.path());
    const std::unique_ptr<Page> page = make_page("stalls", document);
    page->show();
  }
  SUCCEED();
}

TEST_CASE("idleness has the blame of the report, the waits and the devices") {
  const Database database = program();
  Shown shown(database, "idleness");
  const nlohmann::json report = reported(database, ReportView::Idleness);
  const struct {
    const char* heading;
    const char* key;
  } kinds[] = {{"what keeps devices idle", "device_idle"}, {"what keeps threads waiting", "cpu_idle"}};
  for (const auto& kind : kinds) {
    const QModelIndex heading = row_named(shown.model(), kind.heading);
    REQUIRE(heading.isValid());
    const nlohmann::json& all = report[kind.key];
    REQUIRE(shown.model().rowCount(heading) == static_cast<int>(all.size()));
    for (int i = 0; i < shown.model().rowCount(heading); ++i) {
      const QModelIndex row = shown.model().index(i, 0, heading);
      const nlohmann::json& blamed = all[static_cast<size_t>(i)];
      CHECK(text(row, 0).startsWith(QString::fromStdString(blamed["function"].get<std::string>())));
      CHECK(exact(row, 1) == Approx(blamed["value_s"].get<double>()));
      CHECK(exact(row, 2) == Approx(blamed["share_of_idleness"].get<double>()));
      CHECK(exact(row, 3) == Approx(blamed["share_of_run"].get<double>()));
    }
  }
  const QModelIndex device = row_named(shown.model(), "device 0: pthread-cpu");
  REQUIRE(device.isValid());
  CHECK(exact(shown.model().index(0, 0, device), 1) == Approx(8.0));
  CAPTURE(shown.part<QLabel>("sentences").text().toStdString());
  CHECK(shown.part<QLabel>("sentences").text().contains("of 8.00 s in use: CPU idle 50 %, device idle 38 %"));
}

TEST_CASE("pages without data name what measures it") {
  const struct {
    const char* page;
    const char* remedy;
  } cases[] = {
      {"locks", "prof run -e locks"}, {"stalls", "prof run --trace"}, {"idleness", "No device was used"}};
  for (const auto& one : cases) {
    CAPTURE(one.page);
    Shown shown(example(), one.page);
    CHECK(shown.page().reason_empty().contains(one.remedy));
    CHECK(shown.part<QLabel>("reason_empty").isVisible());
  }
}
