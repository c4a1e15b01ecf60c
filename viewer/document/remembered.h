#pragma once
// How the user has arranged pages, from one start to the next.

#include <QSplitter>

namespace prof::viewer {

// As it was left under that name, when it has all its parts, and from now on whenever the user moves it.
void remember_splitter(QSplitter& splitter, const QString& name);

}  // namespace prof::viewer
