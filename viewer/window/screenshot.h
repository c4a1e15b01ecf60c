#pragma once
// Pictures of pages without a display.

#include <QWidget>
#include <filesystem>

#include "viewer/options/view_options.h"

namespace prof::viewer {

// Of a page as the options name it, alone. Returns the exit status; throws what opening throws, and
// std::runtime_error, with one line, where the picture cannot be written.
int take_screenshot(const ViewOptions& options);

// As it is shown: .png or .svg, by the name's ending. Throws std::runtime_error.
void write_picture(QWidget& widget, const std::filesystem::path& file);

}  // namespace prof::viewer
