#pragma once
// Keeps the user's arrangement of pages between starts.

#include <QSplitter>

namespace prof::viewer {

// Restores the sizes stored under that name, if they fit the splitter, and stores every later change by the
// user.
void remember_splitter(QSplitter& splitter, const QString& name);

}  // namespace prof::viewer
