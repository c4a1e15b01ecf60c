#pragma once
// Menu entries that lead to the same function on other pages.

#include <QMenu>
#include <functional>

#include "viewer/document/document.h"

namespace prof::viewer {

// Adds all pages that show functions, except `here`. `choose` requests the function from the document.
void add_pages_of_function(QMenu& menu, Document& document, std::function<void()> choose,
                           const QString& here = {});

}  // namespace prof::viewer
