#pragma once
// The input of a regular expression for functions, with the result of the search.

#include <QLabel>
#include <QWidget>
#include <vector>

#include "analysis/views/tree/call_tree.h"
#include "viewer/document/search_line.h"

namespace prof::viewer {

class SearchField : public QWidget {
  Q_OBJECT

 public:
  explicit SearchField(QWidget* parent = nullptr);

  void start() { expression_->start(); }  // sets the keyboard focus
  // Returns for each frame of the tree if its name matches. Empty if there is no search, or if the expression
  // is invalid, which is reported. Lower-case letters also match upper-case ones.
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
