#pragma once
// What the command line chooses of a document.

#include "viewer/document/document.h"
#include "viewer/options/view_options.h"

namespace prof::viewer {

// Throws SelectionError, which names what there is, and DatabaseError where traces cannot be read. A time is
// chosen for all pages, once the traces are indexed, and shown by the timeline.
void choose(Document& document, const ViewOptions& options);
// The function that pages, which have been made, are to show. Throws std::runtime_error, with one line.
void choose_function(Document& document, const ViewOptions& options);

}  // namespace prof::viewer
