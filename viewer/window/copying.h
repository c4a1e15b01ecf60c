#pragma once
// Determines what Ctrl+C copies.

#include <QString>
#include <QWidget>

#include "viewer/document/page.h"

namespace prof::viewer {

// Returns the selection in the widget with the keyboard focus: text, or rows of its table or list. Otherwise
// returns the page's selection, all of the focused text, or the selected rows of the page's table. Empty if
// there is nothing. Either argument may be nullptr.
QString text_to_copy(QWidget* keys, Page* page);

}  // namespace prof::viewer
