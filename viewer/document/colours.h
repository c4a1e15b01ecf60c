#pragma once
// Colours that mean something, the same on every page: whose time it is, and how much.

#include <QColor>
#include <QPalette>
#include <string_view>

namespace prof::viewer {

// Of a function, by its name alone: the same in every run, on every page and in both themes. Bright enough
// for black text on it, and to stand out from both themes' backgrounds. 0xffRRGGBB.
QRgb colour_of_function(std::string_view name);

// Of text on one of the colours above.
QColor ink_on_function();

// Of what a search has found, behind the theme's text.
QColor found_colour(const QPalette& palette);

// Behind the theme's text, for a share (0..1) of a whole: nothing is the background itself.
QColor heat_colour(const QPalette& palette, double share);

// True where text is brighter than what is behind it.
bool is_dark(const QPalette& palette);

}  // namespace prof::viewer
