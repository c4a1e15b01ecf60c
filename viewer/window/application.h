#pragma once
// The program around the window. A file that changes while it is shown makes reading fail anywhere, also
// while an event is answered: that is told, and the window stays.

#include <QApplication>
#include <functional>

namespace prof::viewer {

class Application : public QApplication {
 public:
  Application(int& argc, char** argv);

  // Told in one line what went wrong. Without it exec() throws that, as for pictures.
  void tell_failures_to(std::function<void(const QString& why)> tell) { tell_ = std::move(tell); }

  bool notify(QObject* receiver, QEvent* event) override;

 private:
  std::function<void(const QString& why)> tell_;
};

}  // namespace prof::viewer
