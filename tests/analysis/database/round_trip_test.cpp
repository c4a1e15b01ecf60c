#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>

#include "analysis/database/database.h"
#include "analysis/database/instruction_costs.h"
#include "tests/analysis/database/comparison.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"
#include "tests/analysis/database/rules.h"

using namespace prof;
using namespace prof::test;

TEST_CASE("A database is read back as it was written") {
  const TemporaryDirectory directory;
  const Database database = known_database();
  write_database(database, directory.path() / "database");
  const Database read = read_database(directory.path() / "database");
  check_equal(read, database);
  CHECK(read.summary(0, 3).sum.inclusive == 4);
  CHECK(records_of(read.traces[0]).size() == 4);
  CHECK(broken_rule(read).empty());
}

TEST_CASE("Costs of instructions are read back by module and range; a database without any replaces them") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "database";
  Database database = known_database();
  database.instructions = {
      {0, 0x10, 0, 1.5}, {0, 0x14, 0, 2}, {0, 0x14, 1, 7}, {0, 0x20, 0, 4}, {1, 0x14, 0, 8}};
  write_database(database, target);
  const auto read = [&](uint32_t module, uint64_t begin, uint64_t end) {
    return read_instruction_costs(target, database, module, begin, end).value();
  };
  CHECK((read(0, 0, UINT64_MAX) ==
         std::vector(database.instructions.begin(), database.instructions.begin() + 4)));
  CHECK((read(0, 0x14, 0x20) ==
         std::vector(database.instructions.begin() + 1, database.instructions.begin() + 3)));
  CHECK((read(1, 0, 0x15) == std::vector(database.instructions.begin() + 4, database.instructions.end())));
  CHECK(read(2, 0, UINT64_MAX).empty());
  database.instructions.clear();
  write_database(database, target);
  CHECK_FALSE(read_instruction_costs(target, database, 0, 0, UINT64_MAX));
}

TEST_CASE("Random databases are read back value by value") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    INFO("seed " << seed);
    const RandomSize size{
        .contexts = 1 + seed * 13 % 400, .profiles = seed % 7, .metrics = seed % 5, .records = seed * 97};
    const TemporaryDirectory directory;
    const Database database = random_database(seed, size);
    write_database(database, directory.path() / "database");
    check_equal(read_database(directory.path() / "database"), database);
  }
}

TEST_CASE("A database that was read can be written again, traces included") {
  const TemporaryDirectory directory;
  const Database database = random_database(7, {});
  write_database(database, directory.path() / "first");
  write_database(read_database(directory.path() / "first"), directory.path() / "second");
  for (const char* file :
       {"meta.db", "profile.db", "cct.db", "trace.db", "metrics/default.yaml", "run.json"}) {
    INFO(file);
    CHECK((read_bytes(directory.path() / "first" / file) == read_bytes(directory.path() / "second" / file)));
  }
}

TEST_CASE("A trace longer than a block is read in order, and a copy of its source reads on its own") {
  const TemporaryDirectory directory;
  Database database = random_database(3, {.contexts = 50, .profiles = 1, .metrics = 1, .records = 200'000});
  write_database(database, directory.path() / "database");
  const Database read = read_database(directory.path() / "database");
  CHECK((records_of(read.traces[0]) == records_of(database.traces[0])));

  std::vector<TraceRecord> first, again;
  REQUIRE(read.traces[0](first));
  const TraceSource copy = read.traces[0];
  std::vector<TraceRecord> from_copy, from_original;
  REQUIRE(copy(from_copy));
  REQUIRE(read.traces[0](from_original));
  CHECK((from_copy == from_original));
  CHECK(!(from_copy == first));
}

TEST_CASE("Idle records in a row become one, as the format asks") {
  const TemporaryDirectory directory;
  Database database = known_database();
  database.traces[0] = trace_of({{10, 2}, {20, kNone}, {30, kNone}, {40, kNone}, {50, kNone}, {60, 3}});
  write_database(database, directory.path() / "database");
  const std::vector<TraceRecord> expected = {{10, 2}, {20, kNone}, {60, 3}};
  CHECK((records_of(read_database(directory.path() / "database").traces[0]) == expected));
}

TEST_CASE("A database without traces has no trace.db, also when it replaces one that had") {
  const TemporaryDirectory directory;
  Database database = known_database();
  write_database(database, directory.path() / "database");
  REQUIRE(std::filesystem::exists(directory.path() / "database" / "trace.db"));
  database.traces.clear();
  write_database(database, directory.path() / "database");
  CHECK(!std::filesystem::exists(directory.path() / "database" / "trace.db"));
  CHECK(read_database(directory.path() / "database").traces.empty());
}

TEST_CASE("Replacing a database leaves the files beside it alone") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "database";
  write_database(known_database(), target);
  std::filesystem::create_directories(target / "src/opt");
  write_bytes(target / "src/opt/main.cpp", "of the database that was there\n");
  write_bytes(target / "findings.sqlite", "beside it\n");
  const Database other = random_database(5, {});
  write_database(other, target / "");
  check_equal(read_database(target), other);
  CHECK(read_bytes(target / "findings.sqlite") == "beside it\n");
  CHECK(!std::filesystem::exists(target / "src"));
  CHECK(std::distance(std::filesystem::directory_iterator(directory.path()), {}) == 1);
}

TEST_CASE("Writing removes what a writer that was killed left, and nothing else") {
  const TemporaryDirectory directory;
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto sibling = [&](const std::string& name, pid_t pid) {
    return directory.path() / ("." + name + ".writing-" + host.data() + "-" + std::to_string(pid));
  };
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  REQUIRE(::waitpid(child, nullptr, 0) == child);  // so no process has this number now
  const std::vector<std::filesystem::path> stay = {sibling("database", ::getppid()), sibling("other", child),
                                                   directory.path() / ".database.writing-another-1x"};
  for (const auto& path : stay) std::filesystem::create_directory(path);
  std::filesystem::create_directory(sibling("database", child));
  write_bytes(sibling("database", child) / "meta.db", "unfinished");
  write_database(known_database(), directory.path() / "database");
  CHECK(!std::filesystem::exists(sibling("database", child)));
  for (const auto& path : stay) CHECK(std::filesystem::exists(path));
}

TEST_CASE("A source file that cannot be read is in the database without a copy") {
  const TemporaryDirectory directory;
  const std::string here = directory.path() / "here.cpp";
  const std::string gone = directory.path() / "gone.cpp";
  write_bytes(here, "int main() {}\n");
  Database database = known_database();
  REQUIRE(database.files.size() >= 2);
  database.files[0] = {gone, true};
  database.files[1] = {here, true};
  const auto target = directory.path() / "database";
  write_database(database, target);
  const Database read = read_database(target);
  CHECK((read.files[0] == SourceFile{gone, false}));
  CHECK((read.files[1] == SourceFile{here, true}));
  CHECK(read_bytes(target / ("src" + here)) == "int main() {}\n");
}

TEST_CASE("A metric's name carries its unit in the files and not in the model") {
  const TemporaryDirectory directory;
  Database database = known_database();
  database.metrics = {{"perf::cycles", "", ""}, {"DATA (host to device)", "bytes", ""}};
  write_database(database, directory.path() / "database");
  CHECK(read_bytes(directory.path() / "database" / "meta.db").find("DATA (host to device) (bytes)") !=
        std::string::npos);
  std::filesystem::remove(directory.path() / "database" / "run.json");
  const Database read = read_database(directory.path() / "database");
  CHECK((read.metrics == database.metrics));
}

TEST_CASE("Without run.json the identifiers of the format remain") {
  const TemporaryDirectory directory;
  write_database(known_database(), directory.path() / "database");
  std::filesystem::remove(directory.path() / "database" / "run.json");
  const Database read = read_database(directory.path() / "database");
  CHECK(read.profiles[1].id.process == 4711);
  CHECK(read.profiles[1].id.thread == 1);
  CHECK(read.profiles[1].id.rank == -1);
  CHECK(read.profiles[0].id.host == read.profiles[1].id.host);
  CHECK(!read.run);
}
