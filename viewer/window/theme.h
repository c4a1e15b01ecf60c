#pragma once
// Light and dark: one palette each, from which every page takes its colours.

#include <QColor>
#include <QString>
#include <string>

namespace prof::viewer {

enum class Theme { Light, Dark };

Theme theme_of(const std::string& name);  // "dark", else light
Theme remembered_theme();
void remember_theme(Theme theme);
// Applies to all windows from now on.
void use_theme(Theme theme);

}  // namespace prof::viewer
