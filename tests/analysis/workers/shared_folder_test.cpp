#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "analysis/workers/liveness.h"
#include "tests/analysis/database/files.h"

using namespace prof;
namespace fs = std::filesystem;

namespace {

struct Folder {
  test::TemporaryDirectory directory;
  SharedFolder shared{directory.path() / "parts"};
  Folder() { fs::create_directory(shared.path()); }
};

const std::string kText = "what one process leaves another, longer than a word";

}  // namespace

TEST_CASE("what was written is read, and nothing else is left in the folder") {
  const Folder folder;
  folder.shared.write("step.0", kText);
  folder.shared.write("empty.0", "");
  CHECK(folder.shared.read("step.0") == kText);
  CHECK(folder.shared.read("empty.0") == "");
  CHECK_FALSE(folder.shared.read("step.1"));
  size_t files = 0;
  for (const auto& entry : fs::directory_iterator(folder.shared.path())) {
    ++files;
    CHECK(entry.path().filename().string().find("writing") == std::string::npos);
  }
  CHECK(files == 2);
  folder.shared.write("step.0", "anew");
  CHECK(folder.shared.read("step.0") == "anew");
}

TEST_CASE("a part that was being written when its process died is none") {
  const Folder folder;
  folder.shared.write("step.0", kText);
  fs::rename(folder.shared.path() / "step.0", folder.shared.path() / "step.0.writing-0");
  CHECK_FALSE(folder.shared.has("step.0"));
  CHECK_FALSE(folder.shared.read("step.0"));
}

TEST_CASE("a part that is cut, or longer, or of which a bit is another, is not there") {
  const Folder folder;
  folder.shared.write("step.0", kText);
  const fs::path file = folder.shared.path() / "step.0";
  const std::string whole = test::read_bytes(file);
  REQUIRE(whole.size() > kText.size());
  for (size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    test::write_bytes(file, whole.substr(0, size));
    CHECK_FALSE(folder.shared.read("step.0"));
  }
  test::write_bytes(file, whole + '\0');
  CHECK_FALSE(folder.shared.read("step.0"));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    CAPTURE(bit);
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    test::write_bytes(file, damaged);
    CHECK_FALSE(folder.shared.read("step.0"));
  }
  test::write_bytes(file, whole);
  CHECK(folder.shared.read("step.0") == kText);
}

TEST_CASE("a folder goes with all that is in it") {
  const Folder folder;
  folder.shared.write("step.0", kText);
  CHECK(folder.shared.refresh());
  folder.shared.remove_all();
  CHECK_FALSE(folder.shared.refresh());
  CHECK(fs::is_empty(folder.directory.path()));
  CHECK_THROWS_AS(folder.shared.write("step.0", kText), std::system_error);
}

TEST_CASE("a process knows of those on its machine whether they have ended") {
  Member self = Member::self();
  CHECK(self.is_here());
  CHECK_FALSE(self.has_ended());
  CHECK(self.nonce != Member::self().nonce);
  Member ended = self;
  ended.pid = 0x7ffffff0;  // more than the system assigns
  CHECK(ended.has_ended());
  Member unreaped = self;
  unreaped.pid = fork();
  if (unreaped.pid == 0) _exit(0);
  siginfo_t end{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(unreaped.pid), &end, WEXITED | WNOWAIT) == 0);
  CHECK(unreaped.has_ended());
  waitpid(unreaped.pid, nullptr, 0);
  Member elsewhere = ended;
  elsewhere.host += "-other";
  CHECK_FALSE(elsewhere.is_here());
  CHECK_FALSE(elsewhere.has_ended());
}

TEST_CASE("with the folder goes what others left that died as they removed it") {
  const Folder folder;
  folder.shared.write("step.0", kText);
  const fs::path beside = folder.directory.path();
  for (const char* left : {"parts.removed-1", "parts.removed-2-77"}) {
    fs::create_directory(beside / left);
    SharedFolder(beside / left).write("step.1", kText);
  }
  fs::create_directory(beside / "parts.of-another");
  folder.shared.remove_all();
  CHECK(SharedFolder(beside).names() == std::vector<std::string>{"parts.of-another"});
  folder.shared.remove_all();  // if it is not there
}
