#include "viewer/window/theme.h"

#include <QApplication>
#include <QPalette>
#include <QSettings>
#include <QStyleFactory>

namespace prof::viewer {

namespace {

constexpr const char* kThemeSetting = "theme";

struct Colours {
  QColor window, base, alternate, text, dim, button, highlight, highlighted, link;
};
const Colours kLight = {{0xf3, 0xf3, 0xf3}, {0xff, 0xff, 0xff}, {0xf7, 0xf7, 0xf7},
                        {0x1a, 0x1a, 0x1a}, {0x69, 0x69, 0x69}, {0xe9, 0xe9, 0xe9},
                        {0x2b, 0x6c, 0xb8}, {0xff, 0xff, 0xff}, {0x1f, 0x5f, 0xb0}};
const Colours kDark = {{0x26, 0x28, 0x2b}, {0x1c, 0x1e, 0x21}, {0x22, 0x24, 0x27},
                       {0xe4, 0xe4, 0xe4}, {0xa2, 0xa2, 0xa2}, {0x33, 0x36, 0x3a},
                       {0x33, 0x72, 0xbd}, {0xff, 0xff, 0xff}, {0x6c, 0xaa, 0xf0}};

QPalette palette_of(const Colours& colours) {
  QPalette palette;
  palette.setColor(QPalette::Window, colours.window);
  palette.setColor(QPalette::WindowText, colours.text);
  palette.setColor(QPalette::Base, colours.base);
  palette.setColor(QPalette::AlternateBase, colours.alternate);
  palette.setColor(QPalette::Text, colours.text);
  palette.setColor(QPalette::PlaceholderText, colours.dim);
  palette.setColor(QPalette::Button, colours.button);
  palette.setColor(QPalette::ButtonText, colours.text);
  palette.setColor(QPalette::ToolTipBase, colours.base);
  palette.setColor(QPalette::ToolTipText, colours.text);
  palette.setColor(QPalette::Highlight, colours.highlight);
  palette.setColor(QPalette::HighlightedText, colours.highlighted);
  palette.setColor(QPalette::Link, colours.link);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    palette.setColor(QPalette::Disabled, role, colours.dim);
  return palette;
}

}  // namespace

Theme theme_of(const std::string& name) {
  return name == "dark" ? Theme::Dark : Theme::Light;
}

Theme remembered_theme() {
  return theme_of(QSettings().value(kThemeSetting, "light").toString().toStdString());
}

void remember_theme(Theme theme) {
  QSettings().setValue(kThemeSetting, theme == Theme::Dark ? "dark" : "light");
}

void use_theme(Theme theme) {
  QApplication::setStyle(QStyleFactory::create("Fusion"));  // the only style that follows palettes everywhere
  QApplication::setPalette(palette_of(theme == Theme::Dark ? kDark : kLight));
}

}  // namespace prof::viewer
