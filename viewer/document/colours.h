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

// As WCAG 2 defines it, 1 to 21: from kReadable on text is readable.
constexpr double kReadable = 4.5;
double contrast(const QColor& one, const QColor& other);

// Of text on any colour: black or white.
QColor ink_on(const QColor& ground);

// The same hue as dark or bright as it takes for text on that ground.
QColor readable_on(const QColor& ground, const QColor& colour);

// Of what a search has found, behind the theme's text.
QColor found_colour(const QPalette& palette);

// Behind the theme's text, for a share (0..1) of a whole: nothing is the background itself.
QColor heat_colour(const QPalette& palette, double share);

// What differs between two runs: more is reddish, less bluish, which those who see no red or no green tell
// apart as well. `share` is -1 (all less) .. 1 (all more). Behind the theme's text:
QColor change_colour(const QPalette& palette, double share);
// The same behind ink_on_function(), in both themes.
QColor change_colour_of_function(double share);

// True where text is brighter than what is behind it.
bool is_dark(const QPalette& palette);

}  // namespace prof::viewer
