// prof-viewer: started by `prof view`, which has checked the options and analyzed what was only measured.

#include <CLI/CLI.hpp>
#include <QApplication>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "viewer/options/view_options.h"
#include "viewer/window/main_window.h"
#include "viewer/window/screenshot.h"
#include "viewer/window/theme.h"

using namespace prof::viewer;

namespace {

constexpr int kFailure = 125;  // as all failures of prof's own (prof/message.h)

// Qt's remarks are about Qt; what ends it is said as everything of prof's is.
void on_qt_message(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type != QtFatalMsg) return;
  std::fprintf(stderr, "prof: %s\n", text.section('\n', 0, 0).toUtf8().constData());
  std::_Exit(kFailure);
}

}  // namespace

int main(int argc, char** argv) {
  ViewOptions options;
  CLI::App command("Shows a database", "prof view");
  add_view_options(command, options);
  CLI11_PARSE(command, argc, argv);

  // A picture needs no display, and where there is none the window cannot be seen.
  if (!options.screenshot.empty()) qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(on_qt_message);
  int no_arguments = 1;
  QApplication application(no_arguments, argv);
  QApplication::setOrganizationName("prof");
  QApplication::setApplicationName("prof");
  QApplication::setApplicationDisplayName("prof");
  try {
    if (!options.screenshot.empty()) return take_screenshot(options);
    use_theme(options.theme.empty() ? remembered_theme() : theme_of(options.theme));
    MainWindow window;
    window.open_as_asked(options);
    window.show();
    return QApplication::exec();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prof: %s\n", error.what());
    return kFailure;
  }
}
