#include <unistd.h>

#include <catch2/catch.hpp>

#include "prof/base/message.h"
#include "tests/export/exported.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

struct TemporaryFile {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("prof-collapsed-" + std::to_string(::getpid()));
  ~TemporaryFile() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("collapsed stacks are root first, in microseconds of exclusive time") {
  CHECK(exported(example()).text ==
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
  options.metrics = {"page-faults"};
  CHECK(exported(database, options).text == "main thread;g 42\n");
  options.metrics = {"cycles"};
  CHECK(exported(database, options).status == kOwnFailure);
}

TEST_CASE("separators in names are replaced and what rounds to zero is left out") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"operator;\n()", 1}}, 1e-6);
  b.spend(t, {{"tiny", 1}}, 4e-7);
  CHECK(exported(b.build()).text == "main thread;operator: () 1\n");
}

TEST_CASE("an empty database exports no stacks") {
  const Rendered result = exported(Database{});
  CHECK(result.text.empty());
  CHECK(result.status == 0);
}

TEST_CASE("-o writes a file, and one that cannot be written is an error") {
  TemporaryFile file;
  ExportOptions options;
  options.output = file.path;
  CHECK(exported(example(), options).text.empty());
  CHECK(lines_of(file_text(file.path)).size() == 5);
  options.output = "/nowhere/stacks";
  CHECK(exported(example(), options).status == kOwnFailure);
}
