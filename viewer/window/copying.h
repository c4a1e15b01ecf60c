#pragma once
// What Ctrl+C takes.

#include <QString>
#include <QWidget>

#include "viewer/document/page.h"

namespace prof::viewer {

// What is selected in the widget that has the keys: text, or rows of its table or list. Else what is chosen
// on the page, all of the text that has the keys, or the rows that the page's table has selected. Empty:
// nothing of that is there. Either may be nullptr.
QString text_to_copy(QWidget* keys, Page* page);

}  // namespace prof::viewer
