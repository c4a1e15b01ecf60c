#include "viewer/tables/search_field.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QRegularExpression>

namespace prof::viewer {

SearchField::SearchField(QWidget* parent) : QWidget(parent), expression_(new QLineEdit), found_(new QLabel) {
  expression_->setObjectName("search");
  expression_->setPlaceholderText("Search functions (Ctrl+F)");
  expression_->setToolTip("A regular expression; Enter: the next one, Shift+Enter: the one before");
  expression_->setClearButtonEnabled(true);
  expression_->setMinimumWidth(fontMetrics().averageCharWidth() * 30);
  expression_->installEventFilter(this);
  found_->setObjectName("found");
  found_->setMinimumWidth(fontMetrics().averageCharWidth() * 14);
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(expression_);
  line->addWidget(found_);
  connect(expression_, &QLineEdit::textChanged, this, &SearchField::changed);
}

void SearchField::start() {
  expression_->setFocus();
  expression_->selectAll();
}

void SearchField::search_for(const QString& expression) {
  expression_->setText(expression);
}

std::vector<bool> SearchField::matches(const CallTree& tree) {
  const QString text = expression_->text();
  QString told;
  std::vector<bool> matches;
  if (!text.isEmpty()) {
    const bool is_exact = text != text.toLower();
    const QRegularExpression expression(
        text, is_exact ? QRegularExpression::NoPatternOption : QRegularExpression::CaseInsensitiveOption);
    if (expression.isValid()) {
      matches.resize(tree.frames.size());
      size_t found = 0;
      for (size_t f = 0; f < matches.size(); ++f) {
        const QString name = QString::fromStdString(frame_name(*tree.database, tree.frames[f]));
        matches[f] = expression.match(name).hasMatch();
        found += matches[f];
      }
      told = found == 0 ? QString("none")
                        : QString("%L1 %2").arg(found).arg(found == 1 ? "function" : "functions");
    } else {
      told = expression.errorString();
    }
  }
  tell(told);
  return matches;
}

bool SearchField::eventFilter(QObject*, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return false;
  const auto* const key = static_cast<QKeyEvent*>(event);
  if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
    if (key->modifiers() & Qt::ShiftModifier)
      emit previous_asked();
    else
      emit next_asked();
    return true;
  }
  if (key->key() != Qt::Key_Escape) return false;
  emit left();
  return true;
}

}  // namespace prof::viewer
