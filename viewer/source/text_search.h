#pragma once
// Where a text is typed that is searched for in a source file, and what it found is told.

#include <QCheckBox>
#include <QLabel>
#include <QRegularExpression>
#include <QWidget>

#include "viewer/document/search_line.h"

namespace prof::viewer {

class TextSearch : public QWidget {
  Q_OBJECT

 public:
  explicit TextSearch(QWidget* parent = nullptr);

  void start() { text_->start(); }  // the keys go there
  // What is searched for; without a pattern: nothing, or an expression that is none, which is told.
  QRegularExpression expression();
  void tell(const QString& what) { found_->setText(what); }

 signals:
  void changed();
  void next_asked();
  void previous_asked();
  void left();  // the keys go back to the text

 private:
  SearchLine* text_;
  QCheckBox* case_;
  QCheckBox* is_expression_;
  QLabel* found_;
};

}  // namespace prof::viewer
