#include "viewer/document/search_line.h"

#include <QKeyEvent>

namespace prof::viewer {

namespace {

constexpr int kMinCharacters = 30;

}  // namespace

SearchLine::SearchLine(const QString& hint, QWidget* parent) : QLineEdit(parent) {
  setObjectName("search");
  setPlaceholderText(hint);
  setClearButtonEnabled(true);
  setMinimumWidth(fontMetrics().averageCharWidth() * kMinCharacters);
}

void SearchLine::start() {
  setFocus();
  selectAll();
}

void SearchLine::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return event->modifiers() & Qt::ShiftModifier ? emit previous_asked() : emit next_asked();
    case Qt::Key_Escape:
      return emit left();
    default:
      QLineEdit::keyPressEvent(event);
  }
}

}  // namespace prof::viewer
