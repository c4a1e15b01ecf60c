// Tests have an application without a display, and settings of their own.

#define CATCH_CONFIG_RUNNER
#include <QApplication>
#include <QStandardPaths>
#include <catch2/catch.hpp>

#include "tests/analysis/database/files.h"

int main(int argc, char** argv) {
  const prof::test::TemporaryDirectory settings;
  for (const char* const name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
    qputenv(name, settings.path().c_str());
  qputenv("QT_QPA_PLATFORM", "offscreen");
  int no_arguments = 1;
  QApplication application(no_arguments, argv);
  QApplication::setOrganizationName("prof");
  QApplication::setApplicationName("prof");
  return Catch::Session().run(argc, argv);
}
