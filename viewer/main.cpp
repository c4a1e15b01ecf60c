// prof-viewer. It is started by `prof view`, which has checked the options and analyzed unprocessed
// measurements.

#include <CLI/CLI.hpp>
#include <QApplication>
#include <QTimer>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

#include "analysis/files/cut_files.h"
#include "viewer/options/view_options.h"
#include "viewer/window/application.h"
#include "viewer/window/main_window.h"
#include "viewer/window/screenshot.h"
#include "viewer/window/theme.h"

using namespace prof::viewer;

namespace {

constexpr int kFailure = 125;  // as for all failures of prof itself (prof/base/message.h)

std::string setting(const char* name) {
  const char* const value = std::getenv(name);
  return value && *value ? std::string(name) + "=" + value : std::string();
}

// Shortens a fatal message. Qt lists its available plugins in several lines, but a user can only fix the
// display.
std::string format_failure(const QString& text) {
  if (!text.contains("platform plugin")) return text.section('\n', 0, 0).toStdString();
  std::string display;
  for (const char* const name : {"QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"})
    if (display.empty()) display = setting(name);
  constexpr size_t kLongest = 40;
  if (display.size() > kLongest) display = display.substr(0, kLongest) + "...";
  return "no window can be opened with " + display +
         ": set DISPLAY, use `ssh -X`, or write a picture with --screenshot FILE";
}

// Qt's warnings are about Qt and are dropped. A fatal message is printed like prof's own.
void on_qt_message(QtMsgType type, const QMessageLogContext&, const QString& text) {
  if (type != QtFatalMsg) return;
  std::fprintf(stderr, "prof: %s\n", format_failure(text).c_str());
  std::_Exit(kFailure);
}

}  // namespace

int main(int argc, char** argv) {
  prof::survive_cut_files();
  ViewOptions options;
  CLI::App command("Shows a database", "prof view");
  add_view_options(command, options);
  CLI11_PARSE(command, argc, argv);

  // A screenshot needs no display, and without one the window would not be visible.
  if (writes_file(options)) qputenv("QT_QPA_PLATFORM", "offscreen");
  qInstallMessageHandler(on_qt_message);
  int no_arguments = 1;
  Application application(no_arguments, argv);
  try {
    if (writes_file(options)) return write_files(options);
    use_theme(options.theme.empty() ? remembered_theme() : theme_of(options.theme));
    MainWindow window;
    application.tell_failures_to([&window](const QString& why) { window.tell_failure(why); });
    window.resize_as_asked(options);
    window.show();
    QTimer::singleShot(0, &window, [&] { window.open_as_asked(options); });
    return QApplication::exec();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "prof: %s\n", error.what());
    return kFailure;
  }
}
