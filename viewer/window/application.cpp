#include "viewer/window/application.h"

#include <exception>

namespace prof::viewer {

Application::Application(int& argc, char** argv) : QApplication(argc, argv) {
  setOrganizationName("prof");
  setApplicationName("prof");
  setApplicationDisplayName("prof");
}

bool Application::notify(QObject* receiver, QEvent* event) {
  if (!tell_) return QApplication::notify(receiver, event);
  try {
    return QApplication::notify(receiver, event);
  } catch (const std::exception& error) {
    tell_(QString::fromUtf8(error.what()));
    return true;
  }
}

}  // namespace prof::viewer
