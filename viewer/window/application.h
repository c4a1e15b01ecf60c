#pragma once
// The program around the window. If a file changes while it is shown, reading may fail anywhere, even in an
// event handler. The failure is reported, and the window stays open.

#include <QApplication>
#include <functional>

namespace prof::viewer {

class Application : public QApplication {
 public:
  Application(int& argc, char** argv);

  // Sets the function that shows a failure, in one line. Without it exec() throws the failure, as for
  // screenshots.
  void tell_failures_to(std::function<void(const QString& why)> tell) { tell_ = std::move(tell); }

  bool notify(QObject* receiver, QEvent* event) override;

 private:
  std::function<void(const QString& why)> tell_;
};

}  // namespace prof::viewer
