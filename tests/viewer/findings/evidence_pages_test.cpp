// Locks, stalls and idleness: what the report has, row by row.

#include <QLabel>
#include <QTextBrowser>
#include <catch2/catch.hpp>

#include "analysis/views/idleness.h"
#include "tests/report/example.h"
#include "tests/report/idle_device.h"
#include "tests/report/stalled_ranks.h"
#include "tests/viewer/findings/shown.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

// One lock for which a thread waits while another has it, a wait without a lock, and work meanwhile.
Database locked() {
  Database database = example();
  nlohmann::json run = nlohmann::json::parse(database.run_json);
  const auto side = [](uint32_t context, uint64_t count, double seconds) {
    return nlohmann::json{{"context", context}, {"threads", 1},     {"count", count},
                          {"seconds", seconds}, {"longest_s", 0.1}, {"open", 0}};
  };
  nlohmann::json lock = {{"host", "build1"},       {"rank", -1},      {"process", 7},     {"kind", "mutex"},
                         {"name", "queue"},        {"address", 64},   {"objects", 1},     {"waits", 40},
                         {"waited_s", 2.0},        {"blamed_s", 1.5}, {"longest_s", 0.1}, {"open_s", 0.0},
                         {"declared", "sum.cpp:5"}};
  lock["waiters"] = nlohmann::json::array({side(2, 40, 2.0)});
  lock["holders"] = nlohmann::json::array({side(1, 30, 1.5)});
  nlohmann::json blocked = side(2, 3, 0.5);
  blocked["kind"] = "barrier";
  run["locks"] = {{"locks", {lock}},
                  {"blocked", {blocked}},
                  {"idle", nlohmann::json::array()},
                  {"open", nlohmann::json::array()}};
  database.run_json = run.dump();
  return database;
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
  CHECK(text(unknown, 0) == "released where prof does not look");
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
  const nlohmann::json report = reported(database, ReportView::Locks);
  REQUIRE(!report["findings"].empty());
  shown.document().ask_for_finding(
      "locks", QString::fromStdString(report["findings"][0]["sentence"].get<std::string>()));
  CHECK(shown.page().table()->currentIndex() == shown.model().index(0, 0));
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
    CHECK(shown.page().why_empty().contains(one.remedy));
    CHECK(shown.part<QLabel>("why_empty").isVisible());
  }
}
