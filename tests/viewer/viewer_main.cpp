// Runs the tests with an application without a display, and with separate settings.

#define CATCH_CONFIG_RUNNER
#include <QStandardPaths>
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

#include "tests/analysis/database/files.h"
#include "viewer/window/application.h"

int main(int argc, char** argv) {
  const prof::test::TemporaryDirectory settings;
  for (const char* const name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
    qputenv(name, settings.path().c_str());
  qputenv("QT_QPA_PLATFORM", "offscreen");
  // The offscreen platform warns about each window.
  qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& text) {
    if (type == QtDebugMsg || text.contains("propagateSizeHints")) return;
    std::fprintf(stderr, "%s\n", text.toUtf8().constData());
    if (type == QtFatalMsg) std::abort();
  });
  int no_arguments = 1;
  const prof::viewer::Application application(no_arguments, argv);
  return Catch::Session().run(argc, argv);
}
