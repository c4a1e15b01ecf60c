#include "viewer/source/text_search.h"

#include <QHBoxLayout>
#include <QKeyEvent>

namespace prof::viewer {

TextSearch::TextSearch(QWidget* parent)
    : QWidget(parent),
      text_(new QLineEdit),
      case_(new QCheckBox("&Case")),
      is_expression_(new QCheckBox("Re&gular expression")),
      found_(new QLabel) {
  text_->setObjectName("search");
  text_->setPlaceholderText("Search in the file (Ctrl+F)");
  text_->setToolTip("Enter: the next one, Shift+Enter: the one before");
  text_->setClearButtonEnabled(true);
  text_->setMinimumWidth(fontMetrics().averageCharWidth() * 30);
  text_->installEventFilter(this);
  case_->setObjectName("case");
  case_->setToolTip("Capitals and small letters are different ones");
  is_expression_->setObjectName("expression");
  found_->setObjectName("found");
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(4, 2, 4, 2);
  line->addWidget(text_);
  line->addWidget(case_);
  line->addWidget(is_expression_);
  line->addWidget(found_, 1);
  connect(text_, &QLineEdit::textChanged, this, &TextSearch::changed);
  connect(case_, &QCheckBox::toggled, this, &TextSearch::changed);
  connect(is_expression_, &QCheckBox::toggled, this, &TextSearch::changed);
}

void TextSearch::start() {
  text_->setFocus();
  text_->selectAll();
}

QRegularExpression TextSearch::expression() {
  tell({});
  const QString text = text_->text();
  if (text.isEmpty()) return {};
  const QRegularExpression expression(
      is_expression_->isChecked() ? text : QRegularExpression::escape(text),
      case_->isChecked() ? QRegularExpression::NoPatternOption : QRegularExpression::CaseInsensitiveOption);
  if (expression.isValid()) return expression;
  tell(expression.errorString());
  return {};
}

bool TextSearch::eventFilter(QObject*, QEvent* event) {
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
