#pragma once
// The page without an open database. It explains how to open one, and lists those opened last.

#include <QLabel>
#include <QStringList>
#include <QVBoxLayout>
#include <QWidget>

namespace prof::viewer {

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);

  void show_recent(const QStringList& paths);
  // Shows which database is being read; empty: none.
  void show_opening(const QString& path);
  // Shows why the last database could not be opened; empty: nothing failed.
  void show_failure(const QString& why);

 signals:
  void open_asked();
  void asked(const QString& path);

 private:
  QLabel* failure_;
  QLabel* opening_;
  QVBoxLayout* recent_;
};

}  // namespace prof::viewer
