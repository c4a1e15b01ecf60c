#include "viewer/threads/thread_filter.h"

#include <QPushButton>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/report/database_builder.h"
#include "tests/viewer/database_folder.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

Database four() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  for (int32_t t = 0; t < 4; ++t) b.spend(b.thread(t, t < 2 ? "reader" : "writer"), {{"work", 4}}, 1);
  return b.build();
}

struct OpenedFilter {
  OpenedFilter() : folder(four()), document(folder.path()) { filter.show_document(&document); }
  QListWidget& list() { return *filter.findChild<QListWidget*>("threads"); }

  DatabaseFolder folder;
  Document document;
  ThreadFilter filter;
};

}  // namespace

TEST_CASE("a text leaves threads of that name, which Enter chooses") {
  OpenedFilter opened;
  CHECK(opened.filter.words() == "All 4 threads");
  QTest::keyClicks(opened.filter.text(), "WRIT");
  CHECK(opened.list().item(0)->isHidden());
  CHECK(!opened.list().item(3)->isHidden());
  CHECK(opened.document.has_all_threads());
  QTest::keyClick(opened.filter.text(), Qt::Key_Return);
  CHECK(opened.document.threads() == std::vector<uint32_t>{2, 3});
  CHECK(opened.filter.words() == "2 of 4 threads");
}

TEST_CASE("check boxes choose threads, several clicks at once; All resets") {
  OpenedFilter opened;
  opened.list().item(0)->setCheckState(Qt::Unchecked);
  opened.list().item(2)->setCheckState(Qt::Unchecked);
  CHECK(opened.document.has_all_threads());
  REQUIRE(QTest::qWaitFor([&] { return !opened.document.has_all_threads(); }, 5000));
  CHECK(opened.document.threads() == std::vector<uint32_t>{1, 3});
  QTest::mouseClick(opened.filter.findChild<QPushButton*>("all"), Qt::LeftButton);
  CHECK(opened.document.has_all_threads());
  CHECK(opened.list().item(0)->checkState() == Qt::Checked);
}

TEST_CASE("no thread at all is no choice") {
  OpenedFilter opened;
  for (int row = 0; row < 4; ++row) opened.list().item(row)->setCheckState(Qt::Unchecked);
  REQUIRE(QTest::qWaitFor([&] { return opened.list().item(0)->checkState() == Qt::Checked; }, 5000));
  CHECK(opened.document.has_all_threads());
}

TEST_CASE("the list shows what was chosen elsewhere") {
  OpenedFilter opened;
  opened.document.choose_threads({1});
  CHECK(opened.list().item(0)->checkState() == Qt::Unchecked);
  CHECK(opened.list().item(1)->checkState() == Qt::Checked);
  CHECK(opened.filter.words() == "1 of 4 threads");
}
