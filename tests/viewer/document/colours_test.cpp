#include "viewer/document/colours.h"

#include <QApplication>
#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "viewer/window/theme.h"

using namespace prof::viewer;

namespace {

QPalette palette_of(Theme theme) {
  use_theme(theme);
  return QApplication::palette();
}

}  // namespace

TEST_CASE("functions have colours of their own that text is readable on") {
  std::set<QRgb> colours;
  for (int i = 0; i < 1000; ++i) {
    const QRgb colour = colour_of_function("function" + std::to_string(i));
    CHECK(contrast(QColor(colour), ink_on_function()) >= 4.5);
    colours.insert(colour);
  }
  CHECK(colours.size() > 800);
  CHECK(colour_of_function("main") == colour_of_function(std::string("main")));
}

TEST_CASE("text is readable on marks in both themes") {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    const QPalette palette = palette_of(theme);
    CHECK(is_dark(palette) == (theme == Theme::Dark));
    const QColor text = palette.color(QPalette::Text);
    CHECK(contrast(text, found_colour(palette)) >= 4.5);
    for (const double share : {0.0, 0.5, 1.0}) CHECK(contrast(text, heat_colour(palette, share)) >= 4.5);
    CHECK(heat_colour(palette, 0) == palette.color(QPalette::Base));
  }
}

TEST_CASE("contrast is that of WCAG 2, and any text can be made readable") {
  CHECK(contrast(Qt::black, Qt::white) == Approx(21));
  CHECK(contrast(QColor(0x77, 0x77, 0x77), Qt::white) == Approx(4.48).margin(0.01));
  for (int hue = 0; hue < 360; hue += 5)
    for (const int lightness : {0, 60, 110, 150, 255}) {
      const QColor colour = QColor::fromHsl(hue, 170, lightness);
      CHECK(contrast(ink_on(colour), colour) >= kReadable);
      for (const QColor& ground :
           {QColor(0xff, 0xff, 0xff), QColor(0x1c, 0x1e, 0x21), QColor(0x80, 0x80, 0x80)})
        CHECK(contrast(readable_on(ground, colour), ground) >= kReadable);
    }
}

TEST_CASE("the themes' own texts are readable on the grounds that they stand on") {
  for (const Theme theme : {Theme::Light, Theme::Dark}) {
    const QPalette palette = palette_of(theme);
    for (const QPalette::ColorRole text : {QPalette::Text, QPalette::PlaceholderText, QPalette::Link})
      for (const QPalette::ColorRole ground :
           {QPalette::Base, QPalette::AlternateBase, QPalette::Window, QPalette::Button})
        CHECK(contrast(palette.color(text), palette.color(ground)) >= kReadable);
    CHECK(contrast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight)) >=
          kReadable);
  }
}
