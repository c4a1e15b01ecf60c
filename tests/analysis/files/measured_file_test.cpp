#include "analysis/files/measured_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/analysis/database/files.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kOtherUser = 65533;  // differs from the user that runs the test
constexpr uint64_t kMaxBytes = 1000;

struct Sources {
  test::TemporaryDirectory directory;
  Sources() { fs::permissions(directory.path(), fs::perms(0755)); }
  fs::path add(const std::string& name, int mode) const {
    const fs::path file = directory.path() / name;
    std::ofstream(file) << "text of " << name;
    ::chmod(file.c_str(), static_cast<mode_t>(mode));
    return file;
  }
};

}  // namespace

TEST_CASE("a regular file is read with its permissions") {
  const Sources sources;
  const auto read = read_measured_file(sources.add("a.c", 0640), {::geteuid()}, kMaxBytes);
  REQUIRE(read);
  CHECK(read->text == "text of a.c");
  CHECK(read->mode == 0640);
  CHECK_FALSE(read_measured_file(sources.add("a.c", 0640), {}, 3));
}

TEST_CASE("neither a pipe nor a device nor a directory is read or waited for") {
  const Sources sources;
  const fs::path pipe = sources.directory.path() / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0644) == 0);
  for (const fs::path& path : {pipe, fs::path("/dev/zero"), sources.directory.path()})
    CHECK_FALSE(read_measured_file(path, {}, kMaxBytes));
}

TEST_CASE("what the measured user may not read is not read for him") {
  const Sources sources;
  CHECK(read_measured_file(sources.add("public.c", 0644), {kOtherUser}, kMaxBytes));
  const fs::path secret = sources.add("secret.c", 0600);
  CHECK(read_measured_file(secret, {::geteuid()}, kMaxBytes));
  CHECK_FALSE(read_measured_file(secret, {kOtherUser}, kMaxBytes));
  CHECK_FALSE(read_measured_file(secret, {::geteuid(), kOtherUser}, kMaxBytes));
  fs::create_symlink(secret, sources.directory.path() / "link.c");
  CHECK_FALSE(read_measured_file(sources.directory.path() / "link.c", {kOtherUser}, kMaxBytes));
  // In a directory that this user may not enter.
  const fs::path hidden = sources.add("hidden.c", 0644);
  fs::permissions(sources.directory.path(), fs::perms(0700));
  CHECK_FALSE(read_measured_file(hidden, {kOtherUser}, kMaxBytes));
}
