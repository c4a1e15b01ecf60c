#include <catch2/catch.hpp>

#include "tests/analysis/import/imported.h"

using namespace prof;
using namespace prof::test;

using Points = std::map<std::string, double>;

TEST_CASE("collapsed stacks become contexts with their numbers") {
  const Import import = import_text("main;work;sum 30\nmain;work 12\nmain;work;sum 5\n");
  CHECK(import.warnings.empty());
  REQUIRE(import.database.metrics.size() == 1);
  CHECK(import.database.metrics[0].name == "samples");
  CHECK(points(import.database) == Points{{"main thread/main/work/sum", 35}, {"main thread/main/work", 12}});
  CHECK(total(import.database) == 47);
  CHECK(import.database.profiles[0].samples == 47);
}

TEST_CASE("frames may hold blanks, and numbers decimals") {
  const Import import = import_text("main;operator new(unsigned long) 1.5\r\nmain;a b;c 2e1\n");
  CHECK(points(import.database) ==
        Points{{"main thread/main/operator new(unsigned long)", 1.5}, {"main thread/main/a b/c", 20}});
}

TEST_CASE("semicolons too many, blank lines and comments do not matter") {
  const Import import = import_text("# made by hand\n\n;main;;work; 3\n");
  CHECK(import.warnings.empty());
  CHECK(points(import.database) == Points{{"main thread/main/work", 3}});
}

TEST_CASE("annotations of frames say what they are") {
  const Import import = import_text("start_[i];Run_[j];fast_[i];vfs_read_[k] 1\nRun_[0];x_[q] 2\n");
  CHECK(points(import.database) ==
        Points{{"main thread/start/Run/+fast/vfs_read", 1}, {"main thread/Run/x_[q]", 2}});
  const auto module_of = [&](const std::string& name) -> std::string {
    for (const Function& function : import.database.functions)
      if (function.name == name && function.module != kNone)
        return import.database.modules[function.module].path;
    return "";
  };
  CHECK(module_of("vfs_read") == "[kernel]");
  CHECK(module_of("Run") == "[jit]");
  CHECK(module_of("fast").empty());
}

TEST_CASE("the entry points of our own exports are entry points again") {
  const Import import = import_text("main thread;main 4\napplication thread;start 6\nmain thread 1\n");
  CHECK(points(import.database) ==
        Points{{"main thread/main", 4}, {"application thread/start", 6}, {"main thread", 1}});
}

TEST_CASE("lines that are no stacks are left out and named") {
  const Import import = import_text("a;b 1\nno number\na;b -4\na;b inf\na;b nan\na;b 1e300\n 17\na;c 2");
  REQUIRE(import.warnings.size() == 1);
  CHECK(import.warnings[0].find("6 lines, first line 2") != std::string::npos);
  CHECK(points(import.database) == Points{{"main thread/a/b", 1}, {"main thread/a/c", 2}});
}

TEST_CASE("names that are not UTF-8 are made so") {
  const Import import = import_text("ma\xffin 1\n");
  CHECK(points(import.database) == Points{{"main thread/ma\xef\xbf\xbdin", 1}});
}

TEST_CASE("what cannot be imported is reported by kind") {
  CHECK(failure_of("") == ImportError::Kind::Damaged);
  CHECK(failure_of("this is a letter\nand no profile\n") == ImportError::Kind::Damaged);
  CHECK(failure_of("{\"json\": 1}") == ImportError::Kind::Unknown);
  CHECK(failure_of(std::string("\x7f"
                               "ELF\0\1",
                               6)) == ImportError::Kind::Unknown);
  CHECK_THROWS_AS(import_file("/nonexistent/file"), ImportError);
  CHECK_THROWS_AS(import_file("/"), ImportError);
}

TEST_CASE("stacks with two numbers each are those of two runs, before and after") {
  const Import import = import_text("a;b 1 2\na;c 0 3\na 4 0\n");
  CHECK(import.warnings.empty());
  REQUIRE(import.database.metrics.size() == 2);
  CHECK(import.database.metrics[0].name == "samples");
  CHECK(import.database.metrics[1].name == "samples before");
  CHECK(points(import.database) == Points{{"main thread/a/b", 2}, {"main thread/a/c", 3}});
  CHECK(points(import.database, 0, 1) == Points{{"main thread/a", 4}, {"main thread/a/b", 1}});
  // One stack with a single number. The other stacks end in frames whose names contain a number.
  CHECK(points(import_text("a;step 1 2\na;c 3\n").database) ==
        Points{{"main thread/a/c", 3}, {"main thread/a/step 1", 2}});
}

TEST_CASE("a byte order mark is no part of the first frame") {
  CHECK(points(import_text("\xef\xbb\xbfmain;work 3\n").database) == Points{{"main thread/main/work", 3}});
}
