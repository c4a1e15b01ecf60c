#pragma once
// Pictures and tables of pages without a display.

#include <QWidget>
#include <filesystem>

#include "viewer/document/document.h"
#include "viewer/document/page.h"
#include "viewer/options/view_options.h"

namespace prof::viewer {

// Of a page as the options name it, alone: its picture, its table, or both. Returns the exit status; throws
// what opening throws, and std::runtime_error, with one line, where a file cannot be written.
int write_files(const ViewOptions& options);

// Throws std::runtime_error for a file that is there and belongs to a database that is shown, or is one of
// its measurements.
void check_output(const Document& document, const std::filesystem::path& file);

// As it is shown, below a line that says what it shows of which program: .png or .svg, by the name's ending;
// .png with as many pixels as the page has on its screen. Throws std::runtime_error.
void write_picture(const Document& document, Page& page, const std::filesystem::path& file);

}  // namespace prof::viewer
