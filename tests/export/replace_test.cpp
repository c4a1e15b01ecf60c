// Which files prof export -o replaces: only its own earlier ones, never the user's, and never the target of a
// link.

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "prof/base/message.h"
#include "prof/export/replaceable.h"
#include "tests/export/exported.h"
#include "tests/report/database_builder.h"

using namespace prof;
using namespace prof::test;
namespace fs = std::filesystem;

namespace {

Database with_trace() {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0), {{"f", 1}}, 1);
  Database database = b.build();
  const uint32_t context = database.profiles[0].values.back().context;
  database.traces.push_back([=, done = false](std::vector<TraceRecord>& block) mutable {
    block = {{1000, context}, {2000, kNone}};
    return done = !done;
  });
  return database;
}

class Folder {
 public:
  Folder() : path(fs::temp_directory_path() / ("prof-replace-" + std::to_string(getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  const fs::path path;
};

int export_to(const fs::path& file, ExportFormat format, bool force = false) {
  ExportOptions options;
  options.format = format;
  options.output = file.string();
  options.force = force;
  return exported(with_trace(), options).status;
}

void put(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("an export replaces its own earlier file, of every format") {
  const Folder folder;
  for (const ExportFormatInfo& info : export_formats()) {
    if (!info.write) continue;
    INFO(info.name);
    const fs::path file = folder.path / info.name;
    REQUIRE(export_to(file, info.format) == 0);
    const std::string first = file_text(file);
    CHECK(begins_like_export(info, first));
    CHECK(export_to(file, info.format) == 0);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path))
      CHECK(entry.path().filename().string().find(".writing") == std::string::npos);
  }
}

TEST_CASE("an export does not replace a file that prof did not write, but with --force") {
  const Folder folder;
  const fs::path file = folder.path / "mine";
  for (const ExportFormatInfo& info : export_formats()) {
    if (!info.write) continue;
    INFO(info.name);
    for (const char* text :
         {"export PATH=~/bin\n", "<!DOCTYPE html>\n<html>\n", "{\"meta\":{}}", "name,age\n", "\nx2\n"}) {
      put(file, text);
      CHECK(export_to(file, info.format) == kOwnFailure);
      CHECK(file_text(file) == text);
    }
    CHECK(export_to(file, info.format, true) == 0);
    CHECK(begins_like_export(info, file_text(file)));
    fs::remove(file);
  }
}

TEST_CASE("an empty file is replaced") {
  const Folder folder;
  put(folder.path / "empty", "");
  CHECK(export_to(folder.path / "empty", ExportFormat::Csv) == 0);
  CHECK(!file_text(folder.path / "empty").empty());
}

TEST_CASE("an export never writes through a link, nor to a FIFO or a folder") {
  const Folder folder;
  const fs::path own = folder.path / "own", link = folder.path / "link", fifo = folder.path / "fifo";
  put(own, "");
  fs::create_symlink(own, link);
  CHECK(export_to(link, ExportFormat::Csv) == kOwnFailure);
  CHECK(export_to(link, ExportFormat::Csv, true) == 0);
  CHECK(file_text(own).empty());
  CHECK(!fs::is_symlink(link));
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(export_to(fifo, ExportFormat::Csv) == kOwnFailure);
  CHECK(export_to(fifo, ExportFormat::Csv, true) == kOwnFailure);
  CHECK(export_to(folder.path, ExportFormat::Csv, true) == kOwnFailure);
  CHECK(export_to("/dev/null", ExportFormat::Csv) == 0);
}

TEST_CASE("- is standard output") {
  ExportOptions options;
  options.format = ExportFormat::Csv;
  options.output = "-";
  CHECK(exported(with_trace(), options).text.starts_with("host,"));
}
