#pragma once
// The line in which something is typed that is searched for.

#include <QLineEdit>

namespace prof::viewer {

class SearchLine : public QLineEdit {
  Q_OBJECT

 public:
  explicit SearchLine(const QString& hint, QWidget* parent = nullptr);

  void start();  // the keys go there

 signals:
  void next_asked();      // Enter
  void previous_asked();  // Shift+Enter
  void left();            // Escape: the keys go back to where they were

 protected:
  void keyPressEvent(QKeyEvent* event) override;
};

}  // namespace prof::viewer
