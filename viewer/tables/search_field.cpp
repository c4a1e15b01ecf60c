#include "viewer/tables/search_field.h"

#include <QHBoxLayout>
#include <QRegularExpression>

namespace prof::viewer {

SearchField::SearchField(QWidget* parent)
    : QWidget(parent), expression_(new SearchLine("Search functions (Ctrl+F)")), found_(new QLabel) {
  expression_->setToolTip("Regular expression; Enter: next match, Shift+Enter: previous match");
  found_->setObjectName("found");
  found_->setMinimumWidth(fontMetrics().averageCharWidth() * 14);
  auto* const line = new QHBoxLayout(this);
  line->setContentsMargins(0, 0, 0, 0);
  line->addWidget(expression_);
  line->addWidget(found_);
  connect(expression_, &QLineEdit::textChanged, this, &SearchField::changed);
  connect(expression_, &SearchLine::next_asked, this, &SearchField::next_asked);
  connect(expression_, &SearchLine::previous_asked, this, &SearchField::previous_asked);
  connect(expression_, &SearchLine::left, this, &SearchField::left);
}

std::vector<bool> SearchField::matches(const CallTree& tree) {
  const QString text = expression_->text();
  QString result;
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
      result = found == 0 ? QString("none")
                          : QString("%L1 %2").arg(found).arg(found == 1 ? "function" : "functions");
    } else {
      result = expression.errorString();
    }
  }
  tell(result);
  return matches;
}

}  // namespace prof::viewer
