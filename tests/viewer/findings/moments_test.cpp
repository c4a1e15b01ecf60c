// Rows that link to the timeline, and links to the code of both sides.

#include <QLabel>
#include <QSignalSpy>
#include <QTextBlock>
#include <QTextBrowser>
#include <catch2/catch.hpp>
#include <set>

#include "tests/analysis/database/databases.h"
#include "tests/report/contended.h"
#include "tests/report/idle_device.h"
#include "tests/report/stalled_ranks.h"
#include "tests/viewer/findings/shown.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

constexpr uint64_t kBegin = 1'700'000'000'000'000'000;

template <typename Row>
std::function<bool(std::vector<Row>&)> source_of(std::vector<Row> rows) {
  return [rows = std::move(rows), is_done = false](std::vector<Row>& block) mutable {
    block = is_done ? std::vector<Row>() : rows;
    return is_done = !is_done;
  };
}

// The thread prepares for 100 ns, waits for 300, prepares for 400. KernelN runs from 150 to 250 and from 300
// to 390. Nothing runs in between, and from 390 to 800, when KernelM follows for 10.
Database traced() {
  Database database = program();
  const uint32_t prepare = context_of(database, "prepare"), wait = context_of(database, "clFinish");
  database.traces = {
      trace_of({{kBegin, prepare}, {kBegin + 100, wait}, {kBegin + 400, prepare}, {kBegin + 900, wait}}),
      trace_of({{kBegin, kNone}, {kBegin + 900, prepare}})};
  database.task_names = {"KernelM", "KernelN"};
  database.wait_names = {"clFinish"};
  database.launches = source_of<DeviceLaunch>({{1, 1, 0, kBegin + 50, kBegin + 150, kBegin + 250, 0},
                                               {1, 1, 0, kBegin + 60, kBegin + 300, kBegin + 390, 0},
                                               {0, 1, 0, kBegin + 70, kBegin + 800, kBegin + 810, 0}});
  database.device_waits = source_of<WaitForDevice>({{0, 0, kBegin + 100, kBegin + 400, 0, 0, 0}});
  return database;
}

// Returns the row that starts with this text, below the heading.
QModelIndex row_of(const QAbstractItemModel& model, const QString& heading, const QString& name) {
  for (int group = 0; group < model.rowCount(); ++group) {
    const QModelIndex parent = model.index(group, 0);
    if (!parent.data().toString().startsWith(heading)) continue;
    for (int row = 0; row < model.rowCount(parent); ++row)
      if (model.index(row, 0, parent).data().toString().startsWith(name)) return model.index(row, 0, parent);
  }
  return {};
}

}  // namespace

TEST_CASE("a stall leads to its thread and time, by its key and by the link of its details") {
  const Database database = stalled_ranks();
  Shown shown(database, "stalls");
  QSignalSpy moments(&shown.document(), &Document::moment_asked),
      pages(&shown.document(), &Document::page_asked);
  const nlohmann::json report = reported(database, ReportView::Stalls);
  const nlohmann::json& thread = report["stalls"][0]["threads"][0];
  QTest::keyClick(shown.page().table(), Qt::Key_T);
  REQUIRE(moments.size() == 1);
  const auto moment = moments[0][0].value<Moment>();
  CHECK(static_cast<double>(moment.range.ns()) * 1e-9 ==
        Approx(thread["end_s"].get<double>() - thread["begin_s"].get<double>()));
  CHECK(thread_label(database, moment.profile) == "3.0 team");
  CHECK(moment.at_ns >= moment.range.begin_ns);
  CHECK(moment.at_ns < moment.range.end_ns);
  CHECK(pages[0][0] == "timeline");

  auto& details = shown.part<QTextBrowser>("details");
  CHECK(details.toPlainText().contains("Show in the timeline"));
  emit details.anchorClicked(QUrl("moment:-"));
  CHECK(moments.size() == 2);
}

TEST_CASE("rows of idleness lead to the longest time of what they sum up") {
  Shown shown(traced(), "idleness");
  QSignalSpy moments(&shown.document(), &Document::moment_asked);
  const auto range_of = [&](const QString& heading, const QString& name) {
    moments.clear();
    const QModelIndex row = row_of(shown.model(), heading, name);
    CAPTURE(heading.toStdString(), name.toStdString());
    REQUIRE(row.isValid());
    shown.page().table()->setCurrentIndex(row);
    QTest::keyClick(shown.page().table(), Qt::Key_T);
    if (moments.empty()) return std::tuple<uint64_t, uint64_t, uint32_t>();
    const auto moment = moments[0][0].value<Moment>();
    return std::tuple(moment.range.begin_ns - kBegin, moment.range.end_ns - kBegin, moment.profile);
  };
  CHECK(range_of("what keeps devices idle", "prepare") == std::tuple(390, 800, 0));
  CHECK(range_of("what keeps devices idle", "clReleaseMemObject") == std::tuple(0, 0, 0));
  CHECK(range_of("what keeps threads waiting", "KernelN") == std::tuple(150, 250, 1));
  CHECK(range_of("where threads wait", "clFinish") == std::tuple(100, 400, 0));
  CHECK(range_of("kernels and copies", "KernelM") == std::tuple(800, 810, 1));
  CHECK(range_of("device 0", "queue 1") == std::tuple(150, 810, 1));
  CHECK(!shown.part<QTextBrowser>("details").toPlainText().isEmpty());
}

TEST_CASE("a call that stacks lack because its library jumps on is found by the line that it is called at") {
  Database database = traced();
  const uint32_t step = context_of(database, "step");
  REQUIRE(step != kNone);
  // At line 31 of step the blame has clReleaseMemObject, the samples have only the driver.
  const uint32_t in_driver = context_of(database, "release_in_driver");
  uint32_t line = kNone;
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    if (database.contexts[c].kind == ContextKind::Line && database.contexts[c].line == 31) line = c;
  REQUIRE(line != kNone);
  Context driver = database.contexts[in_driver];
  driver.parent = line;
  const auto jumped = static_cast<uint32_t>(database.contexts.size());
  database.contexts.push_back(driver);
  database.summaries.resize(database.contexts.size() * database.metrics.size());
  database.traces[0] =
      trace_of({{kBegin, context_of(database, "prepare")}, {kBegin + 400, jumped}, {kBegin + 900, kNone}});
  Shown shown(database, "idleness");
  QSignalSpy moments(&shown.document(), &Document::moment_asked);
  shown.page().table()->setCurrentIndex(
      row_of(shown.model(), "what keeps devices idle", "clReleaseMemObject"));
  CHECK(shown.part<QTextBrowser>("details").toPlainText().contains("Show in the timeline"));
  QTest::keyClick(shown.page().table(), Qt::Key_T);
  REQUIRE(moments.size() == 1);
  CHECK(moments[0][0].value<Moment>().range == TimeRange{kBegin + 390, kBegin + 800});
}

TEST_CASE("before its first task a device is idle from when its queue is there") {
  Database database = traced();
  const uint32_t prepare = context_of(database, "prepare"), wait = context_of(database, "clFinish");
  database.traces[0] = trace_of({{kBegin - 5000, prepare}, {kBegin + 140, wait}});
  database.traces[1] = trace_of({{kBegin - 5000, kNone}, {kBegin + 900, prepare}});
  Shown shown(database, "idleness");
  QSignalSpy moments(&shown.document(), &Document::moment_asked);
  shown.page().table()->setCurrentIndex(row_of(shown.model(), "what keeps devices idle", "prepare"));
  QTest::keyClick(shown.page().table(), Qt::Key_T);
  REQUIRE(moments.size() == 1);
  CHECK(moments[0][0].value<Moment>().range == TimeRange{kBegin - 5000, kBegin + 150});
}

TEST_CASE("without traces rows of idleness lead to no time") {
  Shown shown(program(), "idleness");
  QSignalSpy moments(&shown.document(), &Document::moment_asked);
  QTest::keyClick(shown.page().table(), Qt::Key_T);
  CHECK(moments.empty());
  CHECK(!shown.part<QTextBrowser>("details").toPlainText().contains("timeline"));
}

TEST_CASE("contended data lead to the code of both sides") {
  Shown shown(counting(both_sides), "contention");
  auto& details = shown.part<QTextBrowser>("details");
  CHECK(details.toPlainText().contains("Code:"));
  QSignalSpy sources(&shown.document(), &Document::source_asked);
  std::set<uint32_t> lines;
  for (QTextBlock block = details.document()->begin(); block.isValid(); block = block.next())
    for (auto part = block.begin(); !part.atEnd(); ++part)
      if (const QString link = part.fragment().charFormat().anchorHref(); !link.isEmpty())
        emit details.anchorClicked(QUrl(link));
  for (const auto& source : sources) lines.insert(source[1].toUInt());
  CHECK(lines.size() >= 2);
}
