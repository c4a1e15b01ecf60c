#pragma once
// Applies the selections of the command line to a document.

#include "viewer/document/document.h"
#include "viewer/options/view_options.h"

namespace prof::viewer {

// Throws SelectionError, which names the valid choices, and DatabaseError if traces cannot be read. A time is
// selected for all pages once the traces are indexed, and the timeline shows it.
void choose(Document& document, const ViewOptions& options);
// Selects the function that pages are to show. The pages must exist. Throws std::runtime_error with a
// one-line message.
void choose_function(Document& document, const ViewOptions& options);

}  // namespace prof::viewer
