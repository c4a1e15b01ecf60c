#pragma once
// Pages of databases without a window around them.

#include <QAbstractItemModel>
#include <QAbstractItemModelTester>
#include <QTest>
#include <memory>
#include <nlohmann/json.hpp>

#include "tests/report/rendered.h"
#include "tests/viewer/database_folder.h"
#include "viewer/document/document.h"
#include "viewer/tables/table_text.h"
#include "viewer/window/pages.h"

namespace prof::test {

// A page that is visible and complete.
class Shown {
 public:
  Shown(const Database& database, const char* id)
      : folder_(database), document_(folder_.path()), page_(viewer::make_page(id, document_)) {
    page_->resize(1000, 700);
    page_->show();
    for (int turn = 0; turn < 1000 && !page_->is_complete(); ++turn) QTest::qWait(5);
    REQUIRE(page_->is_complete());
    if (!page_->table()) return;
    tester_ = std::make_unique<QAbstractItemModelTester>(
        page_->table()->model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  }

  viewer::Document& document() { return document_; }
  viewer::Page& page() { return *page_; }
  QAbstractItemModel& model() { return *page_->table()->model(); }

  template <class Widget>
  Widget& part(const char* name) {
    auto* const found = page_->template findChild<Widget*>(name);
    REQUIRE(found);
    return *found;
  }

 private:
  DatabaseFolder folder_;
  viewer::Document document_;
  std::unique_ptr<viewer::Page> page_;
  std::unique_ptr<QAbstractItemModelTester> tester_;
};

inline QString text(const QModelIndex& index, int column) {
  return index.siblingAtColumn(column).data().toString();
}

inline double exact(const QModelIndex& index, int column) {
  return index.siblingAtColumn(column).data(viewer::kExactRole).toDouble();
}

inline nlohmann::json reported(const Database& database, ReportView view) {
  ReportOptions options;
  options.view = view;
  options.format = ReportFormat::Json;
  const Rendered result = rendered(database, options);
  REQUIRE(result.status == 0);
  return nlohmann::json::parse(result.text);
}

}  // namespace prof::test
