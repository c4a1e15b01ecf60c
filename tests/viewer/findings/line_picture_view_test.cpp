#include "viewer/findings/line_picture_view.h"

#include <QImage>
#include <QPixmap>
#include <catch2/catch.hpp>

#include "tests/report/contended.h"
#include "tests/viewer/database_folder.h"

using namespace prof;
using namespace prof::test;
using namespace prof::viewer;

namespace {

nlohmann::json same_bytes(uint32_t first, uint32_t second) {
  return {side(0, "[0].hits", "writes", 0, first), side(1, "[0].hits", "reads", 0, second)};
}

// The colour of a byte that lies beside its letter.
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
  // The row of what is in common.
  CHECK(colour(image, view, 2, 3) == colour(image, view, 2, 60));
  CHECK(view.words_at(view.cell(0, 1, 9).center()).toStdString() ==
        "thread 100.1 count reads and writes counters[1].hits, byte 9 of the line");
  CHECK(view.words_at(view.cell(0, 0, 9).center()).toStdString() ==
        "thread 100.0 count was not seen to use byte 9 of the line");
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
  // What is read is paler than what is written.
  CHECK(colour(image, view, 0, 3).lightness() < colour(image, view, 1, 3).lightness());
}
