#include <QRegularExpression>
#include <QSignalSpy>
#include <QTextBlock>
#include <QTextBrowser>
#include <catch2/catch.hpp>
#include <tuple>

#include "tests/report/contended.h"
#include "tests/report/database_builder.h"
#include "tests/report/example.h"
#include "tests/report/stalled_ranks.h"
#include "tests/viewer/findings/shown.h"
#include "viewer/findings/links.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

QTextBrowser& browser(Shown& shown) {
  auto* const found = shown.page().findChild<QTextBrowser*>();
  REQUIRE(found);
  return *found;
}

QString words(Shown& shown) {
  return browser(shown).toPlainText().simplified();
}

// Returns all links in a text.
std::vector<QUrl> links_in(QTextBrowser& text) {
  std::vector<QUrl> links;
  for (QTextBlock block = text.document()->begin(); block.isValid(); block = block.next())
    for (auto part = block.begin(); !part.atEnd(); ++part)
      if (part.fragment().charFormat().isAnchor())
        links.emplace_back(part.fragment().charFormat().anchorHref());
  return links;
}

}  // namespace

TEST_CASE("the summary says what ran, how well it was measured, and each note") {
  Shown shown(example(), "summary");
  const QString said = words(shown);
  for (const char* const part :
       {"./sum 1000000, exit status 0", "4.02 s, 8.00 s of CPU time, 1 process, 2 threads on build1",
        "640 of 1000 samples/s, 5120 samples", "80 samples: ", "88 % complete, 12 % broken: 614 because",
        "about 80 ms of CPU time (1.0 %), 2.1 MiB of memory", "kernel time is not sampled"}) {
    CAPTURE(part, said.toStdString());
    CHECK(said.contains(part));
  }
}

TEST_CASE("the summary has the findings of the report, with those of traces, in its order") {
  for (const Database& database : {example(), counting(both_sides), stalled_ranks()}) {
    Shown shown(database, "summary");
    const QString said = words(shown);
    qsizetype at = 0;
    const nlohmann::json findings = reported(database, ReportView::Summary)["findings"];
    REQUIRE(!findings.empty());
    for (const nlohmann::json& finding : findings) {
      const QString sentence = QString::fromStdString(finding["sentence"].get<std::string>());
      CAPTURE(sentence.toStdString(), said.toStdString());
      at = said.indexOf(sentence.simplified(), at);
      REQUIRE(at >= 0);
    }
  }
}

TEST_CASE("functions are those of the report, of the chosen metric") {
  DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  const uint32_t faults = builder.metric("PAGE_FAULTS", "");
  builder.function("main", "app.cpp", "/home/me/app");
  builder.function("compute", "app.cpp", "/home/me/app");
  builder.function("allocate", "app.cpp", "/home/me/app");
  const uint32_t thread = builder.thread(0);
  builder.spend(thread, {{"main", 4}, {"compute", 17}}, 9);
  builder.spend(thread, {{"main", 5}, {"allocate", 31}}, 1);
  builder.spend(thread, {{"main", 5}, {"allocate", 33}}, 80, faults);
  builder.spend(thread, {{"main", 4}, {"compute", 18}}, 20, faults);
  const Database database = builder.build();
  Shown shown(database, "summary");
  const nlohmann::json rows = reported(database, ReportView::Flat)["rows"];
  const auto share_of = [&](const char* metric, const std::string& function) {
    double all = 0, own = 0;
    for (const nlohmann::json& row : rows) {
      const double cost = row["values"].value(metric, nlohmann::json::object()).value("exclusive", 0.0);
      all += cost;
      if (row["function"] == function) own = cost;
    }
    return QString("%1 % ").arg(qRound(own / all * 100));
  };
  for (const auto& [metric, first, line, second] : {std::tuple("CPUTIME", "compute", 17, "allocate"),
                                                    std::tuple("PAGE_FAULTS", "allocate", 33, "compute")}) {
    const QString said = words(shown).section("Functions by self cost", 1);
    CAPTURE(said.toStdString());
    CHECK(said.contains(QString("%1, ").arg(metric)));
    CHECK(said.contains(share_of(metric, first) + QString("%1 (app.cpp:%2)").arg(first).arg(line)));
    CHECK(said.contains(share_of(metric, second) + second));
    CHECK(said.indexOf(first) < said.indexOf(second));
    shown.document().choose_metric(1);
  }
}

TEST_CASE("times are shown as people write them, and shares with what they are of") {
  Shown example_shown(example(), "summary");
  CHECK(words(example_shown).contains("began 2 May 2024, 10:00:00 UTC"));
  CHECK(words(example_shown).contains(QRegularExpression("\\d % spent ")));
  Shown contended(counting(both_sides), "summary");
  CHECK(words(contended).contains("75 % to save False sharing: 2 threads use different bytes"));
}

TEST_CASE("findings of ranks lead to the threads, with what slow ranks do") {
  DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.function("solve", "app.cpp", "/home/me/app");
  builder.spend(builder.thread(0, "", 0), {{"solve", 17}}, 9);
  const DatabaseFolder folder(builder.build());
  Document document(folder.path());
  Finding finding;
  finding.kind = FindingKind::LoadImbalance;
  finding.contexts = {{"waits", {{"MPI_Wait", "", "", 0}}}, {"late", {{"solve", "src/app.cpp", "", 17}}}};
  finding.contexts.back().is_subject = true;
  const QString links = links_of(document, finding);
  CAPTURE(links.toStdString());
  CHECK(links.contains("function:threads?of=solve"));
  for (const FindingKind kind :
       {FindingKind::SlowRank, FindingKind::SlowNode, FindingKind::LoadImbalance, FindingKind::LateByTurns})
    CHECK(page_of_finding(kind) == "threads");
}

TEST_CASE("a finding's link leads to the page of its evidence") {
  Shown shown(counting(both_sides), "summary");
  QSignalSpy pages(&shown.document(), &Document::page_asked);
  QSignalSpy findings(&shown.document(), &Document::finding_asked);
  for (const QUrl& link : links_in(browser(shown)))
    if (link.scheme() == "finding") emit browser(shown).anchorClicked(link);
  REQUIRE(pages.count() == 1);
  CHECK(pages[0][0] == "contention");
  CHECK(findings[0][1].toString().startsWith("false-sharing-counters-"));
}

TEST_CASE("links carry any function's name and lead to its line and its frame") {
  const DatabaseFolder folder(example());
  Document document(folder.path());
  QSignalSpy sources(&document, &Document::source_asked);
  QSignalSpy functions(&document, &Document::function_asked);
  follow(document, QUrl("source:1?of=14"));
  REQUIRE(sources.count() == 1);
  CHECK(sources[0][0].toUInt() == 1);
  CHECK(sources[0][1].toUInt() == 14);
  follow(document, QUrl("function:top-down?of=slow%5Fsum"));
  REQUIRE(functions.count() == 1);
  const Frame& frame = document.tree().frames[functions[0][0].toUInt()];
  CHECK(frame_name(document.database(), frame) == "slow_sum");
  follow(document, QUrl("source:4711?of=14"));
  follow(document, QUrl("function:top-down?of=nobody"));
  CHECK(sources.count() == 1);
  CHECK(functions.count() == 1);
}

TEST_CASE("a function that the chosen threads did not run has no link") {
  DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.function("main", "", "/home/me/app");
  builder.function("crunch", "", "/home/me/app");
  builder.function("idle", "", "/home/me/app");
  const uint32_t busy = builder.thread(0), other = builder.thread(1);
  builder.spend(busy, {{"main"}, {"crunch"}}, 9);
  builder.spend(other, {{"main"}, {"idle"}}, 1);
  Shown shown(builder.build(), "summary");
  Finding finding;
  finding.kind = FindingKind::HotPath;
  finding.contexts = {{"", {{"crunch", "", "/home/me/app", 0}}}};
  const QString links = links_of(shown.document(), finding);
  CHECK(links.contains("Instructions"));
  CHECK(links.contains("Top-down"));
  shown.document().choose_threads({1});
  CHECK(links_of(shown.document(), finding).isEmpty());
}

TEST_CASE("a finding in a system library's code links to the line of the program that calls it") {
  DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.function("main", "app.cpp", "/home/me/app");
  builder.function("copy_all", "app.cpp", "/home/me/app");
  builder.function("memcpy", "memmove.S", "/usr/lib/x86_64-linux-gnu/libc.so.6");
  builder.spend(builder.thread(0), {{"main", 4}, {"copy_all", 17}, {"memcpy", 549}}, 10);
  const Database database = builder.build();
  Shown shown(database, "summary");
  const QString html = browser(shown).toHtml();
  CAPTURE(html.toStdString());
  CHECK(html.contains(QRegularExpression("Show: .*>app.cpp:17<")));
}

TEST_CASE("the summary follows the chosen threads") {
  Shown shown(example(), "summary");
  CHECK(!words(shown).contains("1 of 2 threads"));
  shown.document().choose_threads({1});
  for (int turn = 0; turn < 1000 && !shown.page().is_complete(); ++turn) QTest::qWait(5);
  QTest::qWait(1);
  CHECK(words(shown).contains("1 of 2 threads: 100.1 worker"));
}
