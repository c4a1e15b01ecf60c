// prof opens only regular files for reading, and nothing that makes it wait or has no end.

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun/measurement/regular_file.h"
#include "hpcrun/measurement/stored_file.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

class Folder {
 public:
  Folder() : path(fs::temp_directory_path() / ("prof-regular-" + std::to_string(getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  const fs::path path;
};

}  // namespace

TEST_CASE("FIFOs, devices and directories are refused at once") {
  const Folder folder;
  const fs::path fifo = folder.path / "run.json";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const fs::path& path : {fifo, folder.path, fs::path("/dev/zero")}) {
    INFO(path);
    CHECK(!RegularFile(path).is_open());
    CHECK(RegularFile(path).reason() == "not a regular file");
    CHECK(!read_regular_file(path));
    CHECK(!contents_of(StoredFile(path)));
    CHECK(beginning_of(StoredFile(path), 8).empty());
  }
  CHECK(RegularFile(folder.path / "none").error() == ENOENT);
}

TEST_CASE("a file that is nearly all holes is refused, and one with its bytes is read") {
  const Folder folder;
  const fs::path file = folder.path / "file";
  std::ofstream(file) << "begin";
  CHECK(read_regular_file(file) == "begin");
  CHECK(!read_regular_file(file, 4));
  fs::resize_file(file, uint64_t{1} << 36);
  CHECK(RegularFile(file).reason() == "it consists almost entirely of holes");
  CHECK(!contents_of(StoredFile(file)));
}

TEST_CASE("files of /proc, which state no size, are read to their end") {
  CHECK(read_regular_file("/proc/self/status").value_or("").find("Pid:") != std::string::npos);
}
