#pragma once
// All pages, one line each, in the order of the window's tabs (viewer/options/view_options.h).

#include <QString>
#include <memory>

#include "viewer/document/page.h"

namespace prof::viewer {

// Returns nullptr if there is no such page.
std::unique_ptr<Page> make_page(const QString& id, Document& document);

}  // namespace prof::viewer
