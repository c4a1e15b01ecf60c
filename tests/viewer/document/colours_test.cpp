#include "viewer/document/colours.h"

#include <QApplication>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <string>

#include "viewer/window/theme.h"

using namespace prof::viewer;

namespace {

double linear(double part) {
  return part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
}

// As WCAG 2 defines it: 4.5 and more is readable.
double contrast(const QColor& a, const QColor& b) {
  const auto luminance = [](const QColor& colour) {
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
  };
  const double x = luminance(a), y = luminance(b);
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

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
