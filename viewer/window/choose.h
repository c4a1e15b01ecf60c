#pragma once
// What the command line chooses of a document.

#include "viewer/document/document.h"
#include "viewer/options/view_options.h"

namespace prof::viewer {

// Throws SelectionError, which names what there is.
void choose(Document& document, const ViewOptions& options);

}  // namespace prof::viewer
