#include "viewer/window/help.h"

#include <QAction>
#include <QMenu>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace prof::viewer {

namespace {

QString row(const QString& keys, const QString& what) {
  return QString("<tr><td width=\"150\"><b>%1</b></td><td>%2</td></tr>")
      .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
}

QString rows_of(const QMenu& menu) {
  QString rows;
  for (const QAction* const action : menu.actions()) {
    if (action->menu()) {
      rows += rows_of(*action->menu());
    } else if (!action->shortcut().isEmpty()) {
      QString what = action->text();
      rows += row(action->shortcut().toString(QKeySequence::PortableText), what.remove('&').remove("..."));
    }
  }
  return rows;
}

QString section(const QString& title, const QString& rows) {
  return rows.isEmpty()
             ? QString()
             : "<h3>" + title.toHtmlEscaped() + "</h3><table cellspacing=\"3\">" + rows + "</table>";
}

}  // namespace

Help::Help(const QMenuBar& menus, const std::vector<const Page*>& pages, QWidget* parent) : QDialog(parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle("Keys");
  setObjectName("help");
  QString text;
  for (const QAction* const menu : menus.actions())
    if (menu->menu()) text += section(QString(menu->text()).remove('&'), rows_of(*menu->menu()));
  text += section("Everywhere", row("Tab, Shift+Tab", "next part of the page; with Shift, previous part") +
                                    row("Alt and a letter", "open the menu with that letter underlined"));
  text += section("Tables", row("Arrows", "move between rows; open and close rows") +
                                row("Enter", "the row's source line") + row("Ctrl+A", "select all rows"));
  for (const Page* const page : pages) {
    QString rows;
    for (const PageKey& key : page->keys()) rows += row(key.keys, key.what);
    text += section("Page: " + page->title(), rows);
  }
  auto* const browser = new QTextBrowser;
  browser->setHtml(text);
  auto* const column = new QVBoxLayout(this);
  column->addWidget(browser);
  constexpr int kLetters = 70, kLines = 36;
  resize(kLetters * fontMetrics().averageCharWidth(), kLines * fontMetrics().height());
}

}  // namespace prof::viewer
