#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>

#include "prof/message.h"
#include "tests/report/example.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

Rendered collapsed(const Database& database, const ExportOptions& options = {}) {
  return rendered([&](std::FILE* out) { return export_database(database, options, out); });
}

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("prof-collapsed-" + std::to_string(::getpid()));
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("collapsed stacks are root first, in microseconds of exclusive time") {
  CHECK(collapsed(example()).text ==
        "main thread;main;slow_sum 4960000\n"
        "main thread;main;fast_sum 250000\n"
        "main thread;main;fast_sum;add 750000\n"
        "main thread;main;write 40000\n"
        "application thread;worker;fast_sum;add 2000000\n");
}

TEST_CASE("other units are exported as they are, and a metric that is not there is refused") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.metric("page-faults", "");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"f", 1}}, 1, 0);
  b.spend(t, {{"g", 1}}, 42, 1);
  const Database database = b.build();
  ExportOptions options;
  options.metric = "page-faults";
  CHECK(collapsed(database, options).text == "main thread;g 42\n");
  options.metric = "cycles";
  CHECK(collapsed(database, options).status == kOwnFailure);
}

TEST_CASE("separators in names are replaced and what rounds to zero is left out") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"operator;\n()", 1}}, 1e-6);
  b.spend(t, {{"tiny", 1}}, 4e-7);
  CHECK(collapsed(b.build()).text == "main thread;operator: () 1\n");
}

TEST_CASE("an empty database exports no stacks") {
  const Rendered result = collapsed(Database{});
  CHECK(result.text.empty());
  CHECK(result.status == 0);
}

TEST_CASE("-o writes a file, and one that cannot be written is an error") {
  TemporaryFile file;
  ExportOptions options;
  options.output = file.path;
  CHECK(collapsed(example(), options).text.empty());
  CHECK(lines_of(file_text(file.path)).size() == 5);
  options.output = "/nowhere/stacks";
  CHECK(collapsed(example(), options).status == kOwnFailure);
}

TEST_CASE("inferno-flamegraph accepts collapsed stacks") {
  if (std::system("command -v inferno-flamegraph >/dev/null 2>&1") != 0) {
    std::cout << "skipped: inferno-flamegraph is not installed\n";
    return;
  }
  TemporaryFile file;
  ExportOptions options;
  options.output = file.path;
  REQUIRE(collapsed(example(), options).status == 0);
  const std::string command =
      "inferno-flamegraph " + file.path.string() + " | grep -q 'slow_sum (4,960,000 samples, 62'";
  CHECK(std::system(command.c_str()) == 0);
}
