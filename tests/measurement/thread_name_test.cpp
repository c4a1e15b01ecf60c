#include "hpcrun/measurement/thread_name.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <string>

#include "hpcrun/measurement/reader.h"
#include "tests/measurement/recorder.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint64_t kSecond = 1'000'000'000;

size_t names_written(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  size_t count = 0;
  for (size_t at = bytes.find("request-"); at != std::string::npos; at = bytes.find("request-", at + 1))
    ++count;
  return count;
}

}  // namespace

TEST_CASE("a thread that changes its name all the time costs ten records a second") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  hpcrun::ThreadName name;
  recorder.file.write_thread_start(0, 4242, 10, "app");
  name.begin("app");
  unsigned looks = 0;
  constexpr uint64_t kSeconds = 10;
  for (uint64_t i = 1; i <= 1'000 * kSeconds; ++i) {
    const uint64_t now = kSecond + i * kSecond / 1'000;
    name.note(recorder.file, 0, ("request-" + std::to_string(i)).c_str(), now);
    looks += name.is_due(now);
  }
  CHECK(looks == 10 * kSeconds);

  SECTION("and its last name is known") {
    name.note_last(recorder.file, 0, "request-last", (kSeconds + 1) * kSecond);
    recorder.finish();
    CHECK(read_measurement(recorder.path()).threads[0].name == "request-last");
    CHECK(names_written(recorder.path()) <= 16 + 10 * kSeconds + 1);
  }
  SECTION("and what it is called later is seen by a look") {
    name.note(recorder.file, 0, "idle", (kSeconds + 2) * kSecond);
    recorder.finish();
    CHECK(read_measurement(recorder.path()).threads[0].name == "idle");
  }
}

TEST_CASE("a name that a thread keeps is written once") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  hpcrun::ThreadName name;
  recorder.file.write_thread_start(0, 4242, 10, "request-0");
  name.begin("request-0");
  for (uint64_t i = 1; i <= 10; ++i) name.note(recorder.file, 0, "request-0", i * kSecond);
  name.note_last(recorder.file, 0, "request-0", 20 * kSecond);
  recorder.finish();
  CHECK(names_written(recorder.path()) == 1);
  CHECK(read_measurement(recorder.path()).threads[0].name == "request-0");
}

TEST_CASE("a name of full length is whole") {
  TemporaryDirectory directory;
  Recorder recorder(directory / "a.prof");
  hpcrun::ThreadName name;
  name.begin("fifteen-letters");
  name.note(recorder.file, 0, "fifteen-letterz", kSecond);
  recorder.finish();
  CHECK(read_measurement(recorder.path()).threads[0].name == "fifteen-letterz");
}
