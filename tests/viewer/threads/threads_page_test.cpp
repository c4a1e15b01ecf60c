#include <QAbstractItemModelTester>
#include <QImage>
#include <QPixmap>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"
#include "viewer/tables/table_text.h"
#include "viewer/threads/threads_page.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

// Eight threads that work for about 1 s, and the sixth for 3 s, of which 2.5 s in search.
Database uneven() {
  DatabaseBuilder b;
  b.function("work", "work.cpp", "/home/me/team", 3);
  b.function("search", "work.cpp", "/home/me/team", 9);
  b.metric("CPUTIME", "sec");
  for (int32_t t = 0; t < 8; ++t) {
    const uint32_t thread = b.thread(t, "team");
    b.spend(thread, {{"work", 4}}, t == 5 ? 0.5 : 0.9 + 0.01 * t);
    b.spend(thread, {{"work", 5}, {"search", 10}}, t == 5 ? 2.5 : 0.1);
  }
  return b.build();
}

struct Opened {
  Opened() : folder(uneven()), document(folder.path()), page(document) {
    page.resize(1000, 700);
    page.show();
    for (const char* const name : {"by_thread", "sorted", "histogram"})
      plots.push_back(page.findChild<ThreadPlot*>(name));
  }
  uint32_t frame(const std::string& name) const {
    for (uint32_t f = 0; f < document.tree().frames.size(); ++f)
      if (frame_name(document.database(), document.tree().frames[f]) == name) return f;
    return kNone;
  }
  QString sentence() const { return page.findChild<QLabel*>("sentence")->text(); }
  ThreadPlot& plot(size_t number) { return *plots[number]; }

  DatabaseFolder folder;
  Document document;
  ThreadsPage page;
  std::vector<ThreadPlot*> plots;
};

}  // namespace

TEST_CASE("threads are shown in their order, by falling value, and by how many have how much") {
  Opened opened;
  REQUIRE(opened.plot(0).bars().size() == 8);
  CHECK(opened.plot(0).bars()[5].height == Approx(3.0));
  CHECK(opened.plot(1).bars()[0].threads == std::vector<uint32_t>{5});
  CHECK(opened.plot(1).bars()[1].threads == std::vector<uint32_t>{7});
  CHECK(opened.plot(2).bars().front().height == 7);
  CHECK(opened.plot(2).bars().back().threads == std::vector<uint32_t>{5});
  CAPTURE(opened.sentence().toStdString());
  CHECK(opened.sentence().contains("1.00 s to 3.00 s"));
  CHECK(opened.sentence().contains("Outliers: <a href=\"5\">100.5 team</a>."));
}

TEST_CASE("a function that is chosen anywhere is shown instead of the whole program") {
  Opened opened;
  opened.document.ask_for_function(opened.frame("search"));
  CHECK(opened.plot(0).bars()[5].height == Approx(2.5));
  CHECK(opened.plot(0).bars()[0].height == Approx(0.1));
  CHECK(opened.sentence().contains("of search"));
}

TEST_CASE("a click on an outlier chooses its thread for all pages, with Ctrl beside others") {
  Opened opened;
  QTest::mouseClick(&opened.plot(1), Qt::LeftButton, {}, opened.plot(1).place_of(0).center());
  CHECK(opened.document.threads() == std::vector<uint32_t>{5});
  CHECK(opened.document.tree().totals[0] == Approx(3.0));
  CHECK(opened.plot(0).bars()[0].height == Approx(0.9 + 0.1));  // other threads stay visible
  QTest::mouseClick(&opened.plot(0), Qt::LeftButton, Qt::ControlModifier,
                    opened.plot(0).place_of(2).center());
  CHECK(opened.document.threads() == std::vector<uint32_t>{2, 5});
  opened.document.choose_all_threads();
  CHECK(opened.document.has_all_threads());
}

TEST_CASE("an outlier's name is a link that chooses it, by mouse and keys") {
  Opened opened;
  auto* const sentence = opened.page.findChild<QLabel*>("sentence");
  CHECK(sentence->textInteractionFlags().testFlag(Qt::LinksAccessibleByMouse));
  CHECK(sentence->textInteractionFlags().testFlag(Qt::LinksAccessibleByKeyboard));
  CHECK(sentence->focusPolicy() == Qt::StrongFocus);
  emit sentence->linkActivated("5");
  CHECK(opened.document.threads() == std::vector<uint32_t>{5});
}

TEST_CASE("a drag chooses the threads of several bars, keys those of one") {
  Opened opened;
  ThreadPlot& plot = opened.plot(0);
  QTest::mousePress(&plot, Qt::LeftButton, {}, plot.place_of(6).center());
  QTest::mouseMove(&plot, plot.place_of(4).center());
  QTest::mouseRelease(&plot, Qt::LeftButton, {}, plot.place_of(4).center());
  CHECK(opened.document.threads() == std::vector<uint32_t>{4, 5, 6});
  QTest::keyClick(&plot, Qt::Key_Home);
  QTest::keyClick(&plot, Qt::Key_Right);
  QTest::keyClick(&plot, Qt::Key_Return);
  CHECK(opened.document.threads() == std::vector<uint32_t>{1});
}

TEST_CASE("bars are as high as their values, and outliers have a colour of their own") {
  Opened opened;
  ThreadPlot& plot = opened.plot(0);
  const QImage image = plot.grab().toImage();
  const auto coloured = [&](size_t bar) {
    const QRect place = plot.place_of(bar);
    const QColor ground = image.pixelColor(place.center().x(), place.top() + 5);
    int pixels = 0;
    for (int y = place.top(); y < place.bottom(); ++y)
      pixels += image.pixelColor(place.center().x(), y) != (bar == 5 ? QColor() : ground);
    return static_cast<double>(pixels) / place.height();
  };
  CHECK(coloured(5) == Approx(1.0).margin(0.01));
  CHECK(coloured(0) == Approx(1.0 / 3).margin(0.01));
  const auto colour = [&](size_t bar) {
    return image.pixelColor(plot.place_of(bar).center().x(), plot.place_of(bar).bottom() - 5);
  };
  CHECK(colour(0) == colour(1));
  CHECK(colour(5) != colour(1));
  CHECK(plot.words_at(plot.place_of(5).center()).toStdString() == "thread 100.5 team: 3 s, outlier");
}

TEST_CASE("the table has each thread with its value, sorted, and chooses by Enter") {
  Opened opened;
  QAbstractItemView* const table = opened.page.table();
  const QAbstractItemModelTester tester(table->model(),
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  CHECK(table->model()->index(0, 0).data().toString().toStdString() == "100.5 team");
  CHECK(table->model()->index(0, 1).data(kExactRole).toDouble() == Approx(3.0));
  CHECK(table->model()->index(0, 3).data() == "more");
  table->model()->sort(0, Qt::AscendingOrder);
  CHECK(table->model()->index(0, 0).data().toString().toStdString() == "100.0 team");
  table->setCurrentIndex(table->model()->index(3, 0));
  QTest::keyClick(table, Qt::Key_Return);
  CHECK(opened.document.threads() == std::vector<uint32_t>{3});
}

TEST_CASE("labels of the axis have room, however long they are") {
  ThreadPlot plot(ThreadPlot::Order::ByThread);
  plot.resize(600, 200);
  const auto words = [](double) { return QString("1234 h 52 min"); };
  plot.show_values({1, 2}, {true, true}, words, words,
                   [](uint32_t thread) { return QString::number(thread); });
  CHECK(plot.place_of(0).left() > plot.fontMetrics().horizontalAdvance("1234 h 52 min"));
}

TEST_CASE("tooltips of plots have all digits and the unit") {
  Opened opened;
  opened.document.ask_for_function(opened.frame("work"));
  opened.page.findChild<QComboBox*>()->setCurrentIndex(1);
  emit opened.page.findChild<QComboBox*>()->activated(1);
  CHECK(opened.plot(0).words_at(opened.plot(0).place_of(3).center()).toStdString() ==
        "thread 100.3 team: 0.93 s");
  CHECK(
      opened.plot(2).words_at(opened.plot(2).place_of(0).center()).startsWith("1 with 0.5 s to 0.55875 s: "));
}

TEST_CASE(
    "device queues are left out where the metric is one of threads, and threads where it is one of queues") {
  DatabaseBuilder b;
  b.function("work", "work.cpp", "/home/me/team", 3);
  b.metric("CPUTIME", "sec");
  b.metric("DEVICE_TIME", "sec");
  for (int32_t t = 0; t < 4; ++t) b.spend(b.thread(t, "team"), {{"work", 4}}, 2);
  const uint32_t queue = b.thread(9, "queue");
  b.spend(queue, {{"work", 4}}, 5, 1);
  Database database = b.build();
  database.profiles[queue].id.device = 0;
  database.profiles[queue].id.queue = 1;
  const DatabaseFolder folder(database);
  Document document(folder.path());
  ThreadsPage page(document);
  page.resize(1000, 700);
  page.show();
  const auto sentence = [&] { return page.findChild<QLabel*>("sentence")->text(); };
  auto& plot = *page.findChild<ThreadPlot*>("by_thread");
  CHECK(plot.bars().size() == 4);
  CAPTURE(sentence().toStdString());
  CHECK(sentence().contains("2.00 s to 2.00 s, median 2.00 s, mean 2.00 s"));
  CHECK(sentence().contains("No outliers. Not shown: 1 device queue without a value."));
  CHECK(page.table()->model()->rowCount() == 4);
  document.choose_metric(1);
  REQUIRE(plot.bars().size() == 1);
  CHECK(plot.bars()[0].height == Approx(5));
  CHECK(sentence().contains("Not shown: 4 threads without a value."));
  QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.place_of(0).center());
  CHECK(document.threads() == std::vector<uint32_t>{queue});  // not the first one
}

TEST_CASE("where nothing was measured that is reported") {
  DatabaseBuilder b;
  b.thread(0, "team");
  const DatabaseFolder folder(b.build());
  Document document(folder.path());
  ThreadsPage page(document);
  page.resize(1000, 700);
  page.show();
  CHECK(page.findChild<QLabel*>("sentence")->text().toStdString() ==
        "nothing was measured: all metrics are zero");
  CHECK(page.reason_empty() == page.findChild<QLabel*>("sentence")->text());
  CHECK(page.table()->model()->rowCount() == 0);
}

TEST_CASE("nothing is computed while the page is hidden") {
  Opened opened;
  opened.page.hide();
  opened.document.ask_for_function(opened.frame("search"));
  CHECK(opened.plot(0).bars()[5].height == Approx(3.0));
  opened.page.show();
  CHECK(opened.plot(0).bars()[5].height == Approx(2.5));
}
