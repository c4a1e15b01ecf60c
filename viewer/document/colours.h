#pragma once
// Colours with a meaning, the same on every page: one for each function, and shades for a quantity.

#include <QColor>
#include <QPalette>
#include <string_view>

namespace prof::viewer {

// Returns the colour of a function by its name alone: the same in every run, on every page and in both
// themes. Bright enough for black text on it, and distinct from both themes' backgrounds. 0xffRRGGBB.
QRgb colour_of_function(std::string_view name);

// Returns the text colour on the colours above.
QColor ink_on_function();

// Contrast ratio as defined by WCAG 2, 1 to 21. Text is readable from kReadable on.
constexpr double kReadable = 4.5;
double contrast(const QColor& one, const QColor& other);

// Returns the text colour on any colour: black or white.
QColor ink_on(const QColor& ground);

// Returns a colour with the hue of `colour`, dark or bright enough for text on that ground.
QColor readable_on(const QColor& ground, const QColor& colour);

// Returns the background of search results, under the theme's text.
QColor found_colour(const QPalette& palette);

// Returns the background, under the theme's text, for a share (0..1) of a whole. The colour for 0 is that of
// the background itself.
QColor heat_colour(const QPalette& palette, double share);

// Colours of the difference between two runs: reddish for more, bluish for less, which people with colour
// blindness for red or green can distinguish too. `share` is -1 (all less) .. 1 (all more). Returns the
// background under the theme's text:
QColor change_colour(const QPalette& palette, double share);
// The same under ink_on_function(), in both themes.
QColor change_colour_of_function(double share);

// True if text is brighter than its background.
bool is_dark(const QPalette& palette);

}  // namespace prof::viewer
