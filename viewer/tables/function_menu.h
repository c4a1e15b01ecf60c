#pragma once
// The part of a menu that leads to the same function on other pages.

#include <QMenu>
#include <functional>

#include "viewer/document/document.h"

namespace prof::viewer {

// All pages that show functions but `here`. `choose` asks the document for the function.
void add_pages_of_function(QMenu& menu, Document& document, std::function<void()> choose,
                           const QString& here = {});

}  // namespace prof::viewer
