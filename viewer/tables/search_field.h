#pragma once
// The input of a regular expression for functions, with the result of the search.

#include <QLabel>
#include <QWidget>
#include <vector>

#include "analysis/views/call_tree.h"
#include "viewer/document/search_line.h"

namespace prof::viewer {

class SearchField : public QWidget {
  Q_OBJECT

 public:
  explicit SearchField(QWidget* parent = nullptr);

  void start() { expression_->start(); }  // the keys go there
  // Per frame of the tree whether its name matches; empty where nothing is searched for, or the expression
  // is none (which is told). Lower-case letters match upper-case ones as well.
  std::vector<bool> matches(const CallTree& tree);
  void tell(const QString& words) { found_->setText(words); }

 signals:
  void changed();
  void next_asked();      // Enter
  void previous_asked();  // Shift+Enter
  void left();            // Escape

 private:
  SearchLine* expression_;
  QLabel* found_;
};

}  // namespace prof::viewer
