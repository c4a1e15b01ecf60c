#pragma once
// The input of a search in a source file, with its result.

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

  void start() { text_->start(); }  // sets the keyboard focus
  // Returns the expression to search for. It has no pattern if the input is empty or not a valid expression,
  // which is then reported.
  QRegularExpression expression();
  void tell(const QString& what) { found_->setText(what); }

 signals:
  void changed();
  void next_asked();
  void previous_asked();
  void left();  // the focus returns to the text

 private:
  SearchLine* text_;
  QCheckBox* case_;
  QCheckBox* is_expression_;
  QLabel* found_;
};

}  // namespace prof::viewer
