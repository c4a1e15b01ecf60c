#pragma once
// The input line of a search.

#include <QLineEdit>

namespace prof::viewer {

class SearchLine : public QLineEdit {
  Q_OBJECT

 public:
  explicit SearchLine(const QString& hint, QWidget* parent = nullptr);

  void start();  // sets the keyboard focus

 signals:
  void next_asked();      // Enter
  void previous_asked();  // Shift+Enter
  void left();            // Escape: the focus returns to its previous widget

 protected:
  void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace prof::viewer
