// The command line of prof export, and what it refuses.

#include <CLI/CLI.hpp>
#include <catch2/catch.hpp>

#include "prof/base/message.h"
#include "tests/export/exported.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("every option of prof export reaches its field") {
  CLI::App app;
  ExportOptions options;
  add_export_options(app, options);
  app.parse("database --format=collapsed -o stacks --metric cycles --thread=1 --merge-recursion");
  CHECK(options.database == "database");
  CHECK(options.output == "stacks");
  CHECK(options.metrics == std::vector<std::string>{"cycles"});
  CHECK(options.threads == std::vector<std::string>{"1"});
  CHECK(options.merge_recursion);
}

TEST_CASE("formats are listed in the order of their numbers, and each has one writer") {
  size_t n = 0;
  for (const ExportFormatInfo& info : export_formats()) {
    CHECK(static_cast<size_t>(info.format) == n++);
    CHECK((info.write != nullptr) != (info.write_archive != nullptr));
  }
}

TEST_CASE("a format of one metric refuses several") {
  ExportOptions options;
  options.metrics = {"CPUTIME", "REALTIME"};
  CHECK(exported(example(), options).status == kOwnFailure);
}
