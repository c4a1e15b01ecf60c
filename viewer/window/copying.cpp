#include "viewer/window/copying.h"

#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QTextDocumentFragment>
#include <QTextEdit>

#include "viewer/tables/table_text.h"

namespace prof::viewer {

namespace {

QString selected_text(QWidget* widget) {
  if (const auto* const line = qobject_cast<QLineEdit*>(widget)) return line->selectedText();
  if (const auto* const label = qobject_cast<QLabel*>(widget)) return label->selectedText();
  // Plain text with the line ends of files.
  if (const auto* const text = qobject_cast<QTextEdit*>(widget))
    return text->textCursor().selection().toPlainText();
  if (const auto* const text = qobject_cast<QPlainTextEdit*>(widget))
    return text->textCursor().selection().toPlainText();
  return {};
}

}  // namespace

QString text_to_copy(QWidget* keys, Page* page) {
  if (const QString text = selected_text(keys); !text.isEmpty()) return text;
  if (const auto* const rows = qobject_cast<QAbstractItemView*>(keys)) return text_of_selection(*rows);
  if (!page) return {};
  if (const QString text = page->chosen_text(); !text.isEmpty()) return text;
  if (const auto* const text = qobject_cast<QTextEdit*>(keys)) return text->toPlainText();
  const QAbstractItemView* const table = page->table();
  return table ? text_of_selection(*table) : QString();
}

}  // namespace prof::viewer
