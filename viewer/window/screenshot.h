#pragma once
// Writes pictures and tables of pages without a display.

#include <QWidget>
#include <filesystem>

#include "viewer/document/document.h"
#include "viewer/document/page.h"
#include "viewer/options/view_options.h"

namespace prof::viewer {

// Writes the picture or the table of the page that the options name, or both. Returns the exit status. Throws
// what opening throws, and std::runtime_error with a one-line message if a file cannot be written.
int write_files(const ViewOptions& options);

// Throws std::runtime_error if the file exists and belongs to a shown database or is one of its measurements.
void check_output(const Document& document, const std::filesystem::path& file);

// Writes the page as it is shown, below a line with the program and the selection, as .png or .svg by the
// file name's suffix. A .png has as many pixels as the page has on its screen. Throws std::runtime_error.
void write_picture(const Document& document, Page& page, const std::filesystem::path& file);

}  // namespace prof::viewer
