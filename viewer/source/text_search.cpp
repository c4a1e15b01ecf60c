#include "viewer/source/text_search.h"

#include <QHBoxLayout>

namespace prof::viewer {

TextSearch::TextSearch(QWidget* parent)
    : QWidget(parent),
      text_(new SearchLine("Search in the file (Ctrl+F)")),
      case_(new QCheckBox("&Case")),
      is_expression_(new QCheckBox("Re&gular expression")),
      found_(new QLabel) {
  text_->setToolTip("Enter: next match, Shift+Enter: previous match");
  case_->setObjectName("case");
  case_->setToolTip("Match case");
  is_expression_->setObjectName("expression");
  found_->setObjectName("found");
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(4, 2, 4, 2);
  line->addWidget(text_);
  line->addWidget(case_);
  line->addWidget(is_expression_);
  line->addWidget(found_, 1);
  connect(text_, &QLineEdit::textChanged, this, &TextSearch::changed);
  connect(text_, &SearchLine::next_asked, this, &TextSearch::next_asked);
  connect(text_, &SearchLine::previous_asked, this, &TextSearch::previous_asked);
  connect(text_, &SearchLine::left, this, &TextSearch::left);
  connect(case_, &QCheckBox::toggled, this, &TextSearch::changed);
  connect(is_expression_, &QCheckBox::toggled, this, &TextSearch::changed);
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

}  // namespace prof::viewer
