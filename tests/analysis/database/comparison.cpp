#include "tests/analysis/database/comparison.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/run_text.h"

namespace prof::test {

void check_equal(const Database& actual, const Database& expected) {
  CHECK(actual.title == expected.title);
  CHECK(actual.description == expected.description);
  CHECK((actual.modules == expected.modules));
  std::vector<SourceFile> files = expected.files;
  for (SourceFile& file : files) file.copied = file.copied && std::filesystem::is_regular_file(file.path);
  CHECK((actual.files == files));
  CHECK((actual.functions == expected.functions));
  REQUIRE(actual.contexts.size() == expected.contexts.size());
  for (size_t i = 0; i < expected.contexts.size(); ++i) {
    INFO("context " << i);
    CHECK((actual.contexts[i] == expected.contexts[i]));
  }
  CHECK((actual.metrics == expected.metrics));
  CHECK((actual.summaries == expected.summaries));
  REQUIRE(actual.profiles.size() == expected.profiles.size());
  REQUIRE(actual.traces.size() == expected.traces.size());
  for (size_t i = 0; i < expected.profiles.size(); ++i) {
    INFO("profile " << i);
    CHECK((actual.profiles[i].id == expected.profiles[i].id));
    CHECK((actual.profiles[i].values == expected.profiles[i].values));
    CHECK(actual.profiles[i].samples == expected.profiles[i].samples);
    if (expected.traces.empty()) continue;
    REQUIRE(bool{actual.traces[i]} == bool{expected.traces[i]});
    if (expected.traces[i]) CHECK((records_of(actual.traces[i]) == records_of(expected.traces[i])));
  }
  CHECK(run_of(actual) == run_of(expected));
}

}  // namespace prof::test
