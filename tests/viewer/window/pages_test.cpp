#include "viewer/window/pages.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QImage>
#include <catch2/catch.hpp>
#include <set>

#include "tests/analysis/database/databases.h"
#include "tests/viewer/database_folder.h"
#include "viewer/options/view_options.h"
#include "viewer/window/theme.h"

using namespace prof;
using namespace prof::viewer;

TEST_CASE("every page shows something in both themes, whatever is chosen") {
  const test::DatabaseFolder folder(test::known_database());
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    use_theme(theme);
    for (const std::string& id : kPages) {
      INFO(id);
      Document document(folder.path());
      const std::unique_ptr<Page> page = make_page(QString::fromStdString(id), document);
      REQUIRE(page);
      page->resize(800, 500);
      page->show();
      QApplication::processEvents();
      const auto colours = [&] {
        const QImage picture = page->grab().toImage();
        std::set<QRgb> found;
        for (int y = 0; y < picture.height(); y += 2)
          for (int x = 0; x < picture.width(); ++x) found.insert(picture.pixel(x, y));
        return found.size();
      };
      CHECK(colours() > 4);
      document.choose_threads({1});
      document.merge_recursion(true);
      document.choose_metric(1);
      page->hide();
      document.choose_threads({});
      document.choose_threads({0, 1});
      page->show();
      QApplication::processEvents();
      CHECK(colours() > 4);
    }
  }
}
