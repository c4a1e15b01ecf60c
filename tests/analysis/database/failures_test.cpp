#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>

#include "analysis/database/database.h"
#include "analysis/database/instruction_costs.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"

using namespace prof;
using namespace prof::test;
using Kind = DatabaseError::Kind;

namespace {

struct Failure {
  Kind kind;
  std::string message;
};

template <typename Action>
Failure failure_of(Action&& action) {
  try {
    action();
  } catch (const DatabaseError& error) {
    return {error.kind(), error.what()};
  }
  FAIL("no DatabaseError");
  return {};
}

Failure failure_to_read(const std::filesystem::path& directory) {
  return failure_of([&] { (void)read_database(directory); });
}

// The known database with one file changed.
class ChangedDatabase {
 public:
  explicit ChangedDatabase(const char* file) : file_(path() / file) {
    write_database(known_database(), path());
    bytes = read_bytes(file_);
  }
  std::filesystem::path path() const { return directory_.path() / "database"; }
  Failure failure() const {
    write_bytes(file_, bytes);
    return failure_to_read(path());
  }
  std::string bytes;

 private:
  TemporaryDirectory directory_;
  std::filesystem::path file_;
};

// Fails writes beyond a size as a full disk does, with an error from write(2).
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("A database is not written over files of others") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "target";
  std::filesystem::create_directories(target);
  write_database(known_database(), target);  // an empty directory is accepted
  std::filesystem::remove(target / "meta.db");
  write_database(known_database(), target);  // and so is a database that was left half replaced
  write_bytes(target / "meta.db", "mine");
  write_bytes(target / "profile.db", "mine");
  const Failure failure = failure_of([&] { write_database(known_database(), target); });
  CHECK(failure.kind == Kind::Unwritable);
  CHECK(failure.message == target.string() + ": holds other files; choose another directory with -o");
  CHECK(read_bytes(target / "meta.db") == "mine");
}

TEST_CASE("What is no database is named as such") {
  const TemporaryDirectory directory;
  CHECK(failure_to_read(directory.path() / "nowhere").kind == Kind::NotADatabase);
  const Failure empty = failure_to_read(directory.path());
  CHECK(empty.kind == Kind::NotADatabase);
  CHECK(empty.message ==
        directory.path().string() +
            ": not a database: meta.db is missing; give the directory that `prof analyze` or "
            "HPCToolkit's hpcprof wrote");
  write_bytes(directory.path() / "meta.db", "SQLite format 3");
  write_bytes(directory.path() / "profile.db", "");
  CHECK(failure_to_read(directory.path()).kind == Kind::NotADatabase);
}

TEST_CASE("Other versions of the format are refused by number, with what to do") {
  ChangedDatabase changed("meta.db");
  changed.bytes[0x0e] = 3;
  CHECK(changed.failure().kind == Kind::WrongVersion);
  CHECK(changed.failure().message.find(
            "format version 3, but this prof reads version 4; analyze the measurements") !=
        std::string::npos);
  changed.bytes[0x0e] = 5;
  CHECK(changed.failure().kind == Kind::WrongVersion);
  CHECK(changed.failure().message.find("use a newer prof") != std::string::npos);

  const TemporaryDirectory old;
  write_bytes(old.path() / "experiment.xml", "<HPCToolkitExperiment/>");
  CHECK(failure_to_read(old.path()).kind == Kind::WrongVersion);
}

TEST_CASE("A later minor version is read") {
  ChangedDatabase changed("meta.db");
  changed.bytes[0x0f] = 7;
  write_bytes(changed.path() / "meta.db", changed.bytes);
  CHECK(read_database(changed.path()).contexts.size() == 13);
}

TEST_CASE("A file cut at any offset is refused") {
  for (const char* file : {"meta.db", "profile.db", "cct.db", "trace.db"}) {
    ChangedDatabase changed(file);
    const std::string whole = changed.bytes;
    for (size_t size = 0; size < whole.size(); ++size) {
      changed.bytes = whole.substr(0, size);
      INFO(file << " cut at " << size);
      const Kind kind = changed.failure().kind;
      CHECK((kind == (size == 0 ? Kind::NotADatabase : Kind::Truncated)));
    }
  }
}

TEST_CASE("A damaged run.json is refused") {
  ChangedDatabase changed("run.json");
  const std::string whole = changed.bytes;
  changed.bytes = whole.substr(0, whole.size() / 2);
  CHECK(changed.failure().kind == Kind::Corrupt);
  changed.bytes = std::string(100'000, '[');
  CHECK(changed.failure().kind == Kind::Corrupt);
  changed.bytes = R"({"schema": "prof-run/1", "metrics": [], "profiles": []})";
  CHECK(changed.failure().kind == Kind::Corrupt);
  changed.bytes = R"({"schema": "prof-run/2"})";
  CHECK(changed.failure().kind == Kind::WrongVersion);
  for (const char* const build_id : {"00ff3", "00FF3a", "none"}) {
    changed.bytes = whole;
    changed.bytes.replace(changed.bytes.find("00ff3a"), 6, build_id);
    CHECK(changed.failure().kind == Kind::Corrupt);
  }
}

TEST_CASE("Costs of instructions that cannot be read are refused when they are asked for") {
  Database database = known_database();
  database.instructions = {{0, 0x10, 0, 1}};
  const TemporaryDirectory directory;
  write_database(database, directory.path() / "database");
  const auto file = directory.path() / "database" / "instructions.sqlite";
  const auto read = [&] {
    return read_instruction_costs(directory.path() / "database", database, 0, 0, 100);
  };
  CHECK(read()->size() == 1);
  std::string bytes = read_bytes(file);
  bytes[63] = 2;  // SQLite's user_version
  write_bytes(file, bytes);
  CHECK_THROWS_WITH(read(), Catch::Contains("version 2, but this prof reads 1; use the prof that wrote it"));
  write_bytes(file, "no database of SQLite's, which is told when it is read");
  CHECK_THROWS_AS(read(), DatabaseError);
  std::filesystem::remove(file);
  CHECK_FALSE(read());
}

TEST_CASE("A context that is its own descendant is refused") {
  ChangedDatabase changed("meta.db");
  uint64_t context_section = 0, entries = 0;
  std::memcpy(&context_section, changed.bytes.data() + 0x48, 8);
  std::memcpy(&entries, changed.bytes.data() + context_section, 8);
  uint64_t size = 0, children = 0;
  std::memcpy(&size, changed.bytes.data() + entries, 8);
  std::memcpy(&children, changed.bytes.data() + entries + 8, 8);
  std::memcpy(changed.bytes.data() + children, &size, 8);
  std::memcpy(changed.bytes.data() + children + 8, &children, 8);
  const Failure failure = changed.failure();
  CHECK(failure.kind == Kind::Corrupt);
  CHECK(failure.message.find("the contexts do not form a tree") != std::string::npos);
}

TEST_CASE("Malformed UTF-8 in names is replaced") {
  ChangedDatabase changed("meta.db");
  const size_t name = changed.bytes.find("solve(Matrix");
  REQUIRE(name != std::string::npos);
  changed.bytes[name] = '\xff';
  write_bytes(changed.path() / "meta.db", changed.bytes);
  CHECK(read_database(changed.path()).functions[1].name == "\xef\xbf\xbdolve(Matrix const&)");
}

TEST_CASE("A full disk leaves no database, and the old one where there was one") {
  const TemporaryDirectory directory;
  const auto target = directory.path() / "database";
  const Database large = random_database(1, {.contexts = 2000, .profiles = 4, .metrics = 2, .records = 10});
  {
    const FileSizeLimit limit(4096);
    const Failure failure = failure_of([&] { write_database(large, target); });
    CHECK(failure.kind == Kind::Unwritable);
    CHECK(failure.message.find("cannot write: File too large; free disk space") != std::string::npos);
  }
  CHECK(std::filesystem::is_empty(directory.path()));
  write_database(known_database(), target);
  {
    const FileSizeLimit limit(4096);
    CHECK(failure_of([&] { write_database(large, target); }).kind == Kind::Unwritable);
  }
  CHECK(read_database(target).title == "solver");
}

TEST_CASE("A directory that cannot be made is named") {
  const TemporaryDirectory directory;
  write_bytes(directory.path() / "file", "");
  const Failure failure =
      failure_of([&] { write_database(known_database(), directory.path() / "file/database"); });
  CHECK(failure.kind == Kind::Unwritable);
}

TEST_CASE("A model that breaks its rules is not written") {
  const TemporaryDirectory directory;
  const auto kind_after = [&](auto&& change) {
    Database database = known_database();
    change(database);
    return failure_of([&] { write_database(database, directory.path() / "database"); }).kind;
  };
  CHECK(kind_after([](Database& d) { d.contexts[3].parent = 5; }) == Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.contexts[3].parent = kNone; }) == Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.contexts[3].function = 4; }) == Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { std::swap(d.profiles[0].values[0], d.profiles[0].values[4]); }) ==
        Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.profiles[0].values[0].values.point = 0.0 / 0.0; }) ==
        Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.files[0].path = "main.cpp"; }) == Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.summaries.pop_back(); }) == Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.traces[0] = trace_of({{2, 0}, {1, 0}}); }) == Kind::InvalidModel);
  CHECK(kind_after([](Database& d) { d.traces[0] = trace_of({{2, 99}}); }) == Kind::InvalidModel);
  CHECK(std::filesystem::is_empty(directory.path()));
}
