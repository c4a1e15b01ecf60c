#include "viewer/findings/line_picture_view.h"

#include <QImage>
#include <QPixmap>
#include <catch2/catch.hpp>

#include "analysis/views/run/line_pictures.h"
#include "tests/analysis/database/run_text.h"
#include "tests/report/contended.h"
#include "tests/viewer/database_folder.h"
#include "viewer/document/colours.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

nlohmann::json same_bytes(uint32_t first, uint32_t second) {
  return {side(0, "[0].hits", "writes", 0, first), side(1, "[0].hits", "reads", 0, second)};
}

// Returns the colour of a byte next to its letter.
QColor colour(const QImage& image, const LinePictureView& view, size_t row, size_t byte) {
  const QRect cell = view.cell(0, row, byte);
  return image.pixelColor(cell.left() + 1, cell.top() + 3);
}

}  // namespace

TEST_CASE("bytes that a thread uses have its colour, others none; nothing is in common") {
  const DatabaseFolder folder(counting(both_sides));
  Document document(folder.path());
  LinePictureView view(document);
  view.resize(900, 300);
  view.show_record(&document.run().contention.front());
  const QImage image = view.grab().toImage();
  const QColor unused = colour(image, view, 0, 20);
  CHECK(colour(image, view, 0, 3) != unused);
  CHECK(colour(image, view, 0, 8 + 3) == unused);
  CHECK(colour(image, view, 1, 3) == unused);
  CHECK(colour(image, view, 1, 8 + 3) != unused);
  CHECK(colour(image, view, 1, 8 + 3) != colour(image, view, 0, 3));
  // The row of common bytes.
  CHECK(colour(image, view, 2, 3) == colour(image, view, 2, 60));
  CHECK(view.words_at(view.cell(0, 1, 9).center()).toStdString() ==
        "thread 100.1 (count) reads and writes counters[1].hits, byte 9 of the line");
  CHECK(view.words_at(view.cell(0, 0, 9).center()).toStdString() ==
        "no access of thread 100.0 (count) to byte 9 of the line was recorded");
}

TEST_CASE("a line has a frame around all its 64 bytes, and its end is marked") {
  const DatabaseFolder folder(counting(both_sides));
  Document document(folder.path());
  LinePictureView view(document);
  view.resize(900, 300);
  view.show_record(&document.run().contention.front());
  const QImage image = view.grab().toImage();
  const QRect last = view.cell(0, 0, 63);
  const QColor ground = image.pixelColor(image.width() - 2, image.height() - 2),
               unused = image.pixelColor(last.left() - 3, last.center().y()),
               frame = image.pixelColor(last.left() - 3, last.top() + 2);
  CHECK(unused != ground);
  CHECK(contrast(frame, unused) > 3);
  // The tick, and the number after it.
  const QRect ruler(last.right() + 1, view.cell(0, 0, 0).top() - last.height(), 30, last.height());
  int marked = 0;
  for (int x = ruler.left(); x < ruler.right(); ++x)
    for (int y = ruler.top(); y < ruler.bottom(); ++y) marked += image.pixelColor(x, y) != ground;
  CHECK(marked > 20);
}

TEST_CASE("what a picture leaves out it says") {
  Database database = counting(both_sides);
  nlohmann::json run = run_of(database);
  nlohmann::json& sides = run["contention"][0]["sides"];
  const nlohmann::json first = sides[0];
  sides.clear();
  for (uint32_t line = 0; line < 6; ++line) {
    nlohmann::json side = first;
    side["line"] = 64 * line;
    side["offset"] = 64 * line;
    sides.push_back(side);
  }
  set_run(database, run);
  const DatabaseFolder folder(database);
  Document document(folder.path());
  LinePictureView view(document);
  view.resize(900, 300);
  const ContendedRecord& record = document.run().contention.front();
  view.show_record(&record);
  REQUIRE(line_pictures(record).size() == 6);
  CHECK(view.lines_left_out().toStdString() == "and 2 lines more of this data; see the table");
  // Below the last of them.
  const QRect last = view.cell(3, 1, 0);
  CHECK(view.minimumSizeHint().height() > last.bottom() + last.height());
}

TEST_CASE("bytes that one thread writes and another reads are in common") {
  const DatabaseFolder folder(counting(same_bytes));
  Document document(folder.path());
  LinePictureView view(document);
  view.resize(900, 300);
  view.show_record(&document.run().contention.front());
  const QImage image = view.grab().toImage();
  const QRect common = view.cell(0, 2, 3), apart = view.cell(0, 2, 20);
  CHECK(image.pixelColor(common.center()) != image.pixelColor(apart.center()));
  // Bytes that are read are paler than those that are written.
  CHECK(colour(image, view, 0, 3).lightness() < colour(image, view, 1, 3).lightness());
}
