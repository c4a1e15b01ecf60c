#include "analysis/files/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "analysis/files/user_rights.h"
#include "tests/analysis/database/files.h"

using namespace prof;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr uid_t kNobody = 65534;

std::string contents(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status.st_mode & 07777;
}

// Sets the umask, and restores it.
class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

class Shared {
 public:
  explicit Shared(SharedWith with) { set_shared_with(with); }
  ~Shared() { set_shared_with(SharedWith::Nobody); }
};

// A victim's file, and a folder with links to it.
struct Planted {
  test::TemporaryDirectory directory;
  fs::path victim = directory.path() / "victim";
  fs::path folder = directory.path() / "folder";
  Planted() {
    std::ofstream(victim) << "precious";
    fs::create_directory(folder);
  }
  void plant(const std::string& name) const { fs::create_symlink(victim, folder / name); }
};

bool is_root() {
  if (::geteuid() == 0) return true;
  WARN("not root: what other users own is left out");
  return false;
}

}  // namespace

TEST_CASE("a file replaces a link of its name and leaves alone what that led to") {
  const Planted planted;
  planted.plant("run.json");
  planted.plant("run.json.writing");
  Folder(planted.folder).write("run.json", "{}");
  CHECK(contents(planted.victim) == "precious");
  CHECK(fs::is_regular_file(fs::symlink_status(planted.folder / "run.json")));
  CHECK(contents(planted.folder / "run.json") == "{}");
  CHECK(Folder(planted.folder).names().size() == 2);  // no temporary file is left over
}

TEST_CASE("a link, a pipe and a file with a second name are not opened") {
  const Planted planted;
  planted.plant("link");
  REQUIRE(::mkfifo((planted.folder / "pipe").c_str(), 0600) == 0);
  fs::create_hard_link(planted.victim, planted.folder / "hard");
  const Folder folder(planted.folder);
  CHECK_THROWS_AS(folder.open("link", O_WRONLY | O_CREAT | O_TRUNC), WriteError);
  CHECK_THROWS_AS(folder.open("pipe", O_RDWR), WriteError);
  CHECK_THROWS_AS(folder.open("hard", O_WRONLY | O_CREAT | O_TRUNC), WriteError);
  CHECK_THROWS_AS(folder.folder("link"), WriteError);
  CHECK_FALSE(folder.write_new("link", "text"));
  CHECK(contents(planted.victim) == "precious");
}

TEST_CASE("a folder is removed with what is in it, and not what links in it lead to") {
  const Planted planted;
  const Folder folder(planted.folder);
  fs::create_directories(planted.folder / "tree/inner");
  std::ofstream(planted.folder / "tree/inner/file") << "text";
  fs::create_directory(planted.directory.path() / "elsewhere");
  std::ofstream(planted.directory.path() / "elsewhere/file") << "text";
  fs::create_symlink(planted.directory.path() / "elsewhere", planted.folder / "tree/link");
  CHECK(folder.remove("tree"));
  CHECK_FALSE(folder.has("tree"));
  CHECK(fs::exists(planted.directory.path() / "elsewhere/file"));
}

TEST_CASE("files are their user's alone, whatever the umask allows") {
  const test::TemporaryDirectory directory;
  const Umask none(0);
  const Folder folder = Folder::make(directory.path() / "a/b");
  folder.write("file", "text");
  CHECK(folder.write_new("new", "text"));
  ::close(folder.open("opened", O_WRONLY | O_CREAT));
  CHECK(mode_of(folder.path()) == 0700);
  for (const char* name : {"file", "new", "opened"}) CHECK(mode_of(folder.path() / name) == 0600);
}

TEST_CASE("files are shared where that is asked for, whatever the umask forbids") {
  const test::TemporaryDirectory directory;
  const Umask all(077);
  const auto [share, folder_mode, file_mode] =
      GENERATE(std::tuple(SharedWith::Group, 0750, 0640), std::tuple(SharedWith::World, 0755, 0644));
  const Shared shared(share);
  const Folder folder = Folder::make(directory.path() / "a");
  folder.write("file", "text");
  folder.write("secret", "text", 0600);
  CHECK(mode_of(folder.path()) == static_cast<mode_t>(folder_mode));
  CHECK(mode_of(folder.path() / "file") == static_cast<mode_t>(file_mode));
  CHECK(mode_of(folder.path() / "secret") == 0600);
}

TEST_CASE("a path leads through links of the user's own") {
  const Planted planted;
  fs::create_symlink("folder", planted.directory.path() / "latest");
  write_own_file(planted.directory.path() / "latest/../latest/file", "text");
  CHECK(contents(planted.folder / "file") == "text");
  CHECK_THROWS_AS(Folder(planted.directory.path() / "absent"), WriteError);
  fs::create_symlink("loop", planted.directory.path() / "loop");
  CHECK_THROWS_AS(Folder(planted.directory.path() / "loop"), WriteError);
}

TEST_CASE("root writes neither to another user's folder nor through a link of his") {
  if (!is_root()) return;
  const Planted planted;
  const fs::path theirs = planted.directory.path() / "theirs";
  fs::create_directory(theirs);
  REQUIRE(::chown(theirs.c_str(), kNobody, kNobody) == 0);
  CHECK_THROWS_WITH(Folder{theirs}, Contains("belongs to") && Contains("choose another directory with -o"));
  CHECK(fs::is_empty(theirs));
  CHECK_THROWS_AS(Folder::make(theirs), WriteError);
  CHECK(Folder::make(theirs / "new").is_new());  // which no other user can write to
  fs::create_symlink(planted.folder, theirs / "link");
  REQUIRE(::lchown((theirs / "link").c_str(), kNobody, kNobody) == 0);
  CHECK_THROWS_WITH(Folder{theirs / "link"}, Contains("the link link in this path belongs to another user"));
  CHECK_THROWS_AS(Folder::make(theirs / "link/inner"), WriteError);
  CHECK(fs::is_empty(planted.folder));
}

TEST_CASE("root writes to another user's folder with that user's rights") {
  if (!is_root()) return;
  const Planted planted;
  fs::permissions(planted.directory.path(), fs::perms::others_exec, fs::perm_options::add);
  REQUIRE(::chown(planted.folder.c_str(), kNobody, kNobody) == 0);
  CHECK_FALSE(rights_for(planted.directory.path()));
  {
    const std::optional<UserRights> rights = rights_for(planted.folder);
    REQUIRE(rights);
    const Folder folder(planted.folder);
    folder.write("file", "text");
    CHECK_THROWS_AS(write_own_file(planted.directory.path() / "file", "text"), WriteError);
    CHECK_FALSE(std::ofstream(planted.victim));
  }
  struct stat status {};
  REQUIRE(::stat((planted.folder / "file").c_str(), &status) == 0);
  CHECK(status.st_uid == kNobody);
  write_own_file(planted.directory.path() / "file", "root has its rights again");
}
