// Two processes that share a device. One is a child that executes commands from a pipe.
#include "hpcrun/device/shared_device.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

using namespace hpcrun;

namespace {

std::string unique_device() {
  static int number = 0;
  return "test " + std::to_string(getpid()) + "/" + std::to_string(number++);
}

std::filesystem::path file_of(const std::string& device) {
  std::string name = device;
  for (char& c : name)
    if (c == ' ' || c == '/') c = '_';
  return "/dev/shm/prof-device-" + std::to_string(geteuid()) + "-" + name;
}

// Joins and does its work, reports that, and stays until it is asked to leave or is killed.
class OtherProcess {
 public:
  OtherProcess(const std::string& device, const std::function<void(SharedDevice&)>& work) {
    if (pipe(ready_) != 0 || pipe(go_) != 0) FAIL("pipe");
    pid_ = fork();
    if (pid_ != 0) {
      char done = 0;
      REQUIRE(read(ready_[0], &done, 1) == 1);
      REQUIRE(done == 'y');
      return;
    }
    close(go_[1]);
    SharedDevice shared;
    const char joined = shared.join(device.c_str()) ? 'y' : 'n';
    work(shared);
    char go = 0;
    if (write(ready_[1], &joined, 1) == 1 && read(go_[0], &go, 1) == 1) shared.leave();
    _exit(0);
  }
  ~OtherProcess() {
    if (pid_ > 0) kill_it();
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  void let_leave() {
    REQUIRE(write(go_[1], "x", 1) == 1);
    collect();
  }
  void kill_it() {
    kill(pid_, SIGKILL);
    collect();
  }

 private:
  void collect() {
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
    for (const int end : {ready_[0], ready_[1], go_[0], go_[1]}) close(end);
  }
  int ready_[2];
  int go_[2];
  pid_t pid_ = -1;
};

using Seen = std::vector<std::pair<uint64_t, uint64_t>>;

Seen work_of_others(SharedDevice& shared, Interval window) {
  Seen seen;
  shared.for_each_work(window, [&](Interval interval) { seen.emplace_back(interval.begin, interval.end); });
  return seen;
}

Seen waits_of_others(SharedDevice& shared, Interval window) {
  Seen seen;
  shared.for_each_wait(window, [&](Interval interval) { seen.emplace_back(interval.begin, interval.end); });
  return seen;
}

}  // namespace

TEST_CASE("a process sees when another had something to do for the device, and when it waited") {
  const std::string device = unique_device();
  SharedDevice shared;
  REQUIRE(shared.join(device.c_str()));
  CHECK(shared.others() == 0);
  shared.begin_work(5);
  shared.end_work(50);
  OtherProcess other(device, [](SharedDevice& theirs) {
    theirs.begin_work(10);
    theirs.end_work(20);
    theirs.begin_work(30);
    theirs.end_wait(theirs.begin_wait(12), {12, 18});
    theirs.begin_wait(40);
  });
  CHECK(shared.others() == 1);
  CHECK(work_of_others(shared, {0, 100}) == Seen{{30, 100}, {10, 20}});
  CHECK(work_of_others(shared, {15, 25}) == Seen{{15, 20}});
  CHECK(waits_of_others(shared, {0, 60}) == Seen{{40, 60}, {12, 18}});
  CHECK(waits_of_others(shared, {20, 30}).empty());
  other.let_leave();
  CHECK(shared.others() == 0);
  CHECK(work_of_others(shared, {0, 100}).empty());
  shared.leave();
  CHECK_FALSE(std::filesystem::exists(file_of(device)));
}

TEST_CASE("what a process that was killed left keeps no device busy") {
  const std::string device = unique_device();
  SharedDevice shared;
  REQUIRE(shared.join(device.c_str()));
  OtherProcess other(device, [](SharedDevice& theirs) { theirs.begin_work(10); });
  CHECK(work_of_others(shared, {0, 100}) == Seen{{10, 100}});
  other.kill_it();
  CHECK(shared.others() == 0);
  CHECK(work_of_others(shared, {0, 100}).empty());
  shared.leave();
  CHECK_FALSE(std::filesystem::exists(file_of(device)));
}

TEST_CASE("who joins after a process was killed takes its slot away") {
  const std::string device = unique_device();
  {
    OtherProcess other(device, [](SharedDevice& theirs) { theirs.begin_work(10); });
    other.kill_it();
  }
  CHECK(std::filesystem::exists(file_of(device)));
  SharedDevice shared;
  REQUIRE(shared.join(device.c_str()));
  CHECK(shared.others() == 0);
  shared.leave();
  CHECK_FALSE(std::filesystem::exists(file_of(device)));
}

TEST_CASE("only the last intervals are kept, and those are right") {
  const std::string device = unique_device();
  SharedDevice shared;
  REQUIRE(shared.join(device.c_str()));
  OtherProcess other(device, [](SharedDevice& theirs) {
    for (uint64_t i = 1; i <= 1'000; ++i) {
      theirs.begin_work(10 * i);
      theirs.end_work(10 * i + 4);
    }
  });
  const Seen seen = work_of_others(shared, {9'000, 20'000});
  REQUIRE(seen.size() == 101);
  CHECK(seen.front() == std::pair<uint64_t, uint64_t>{10'000, 10'004});
  CHECK(seen.back() == std::pair<uint64_t, uint64_t>{9'000, 9'004});
  CHECK(work_of_others(shared, {0, 20'000}).size() == 256);
  other.let_leave();
  shared.leave();
}

TEST_CASE("a file that is another's link is not followed") {
  const std::string device = unique_device();
  std::filesystem::create_symlink("/tmp/prof-test-target-that-is-not-there", file_of(device));
  SharedDevice shared;
  CHECK_FALSE(shared.join(device.c_str()));
  CHECK_FALSE(std::filesystem::exists("/tmp/prof-test-target-that-is-not-there"));
  std::filesystem::remove(file_of(device));
}

TEST_CASE("a call that may work as well waits for others to see only while its process has work under way") {
  const std::string device = unique_device();
  SharedDevice shared;
  REQUIRE(shared.join(device.c_str()));
  for (const bool has_work : {true, false}) {
    OtherProcess other(device, [&](SharedDevice& theirs) {
      if (has_work) theirs.begin_work(100);
      theirs.begin_wait(201, true);
      theirs.begin_wait(301);
    });
    Seen seen;
    shared.for_each_wait({0, 1'000}, [&](Interval wait) { seen.emplace_back(wait.begin, wait.end); });
    REQUIRE(seen.size() == (has_work ? 2 : 1));
    CHECK(seen.back() == std::pair<uint64_t, uint64_t>{300, 1'000});
    other.let_leave();
  }
  shared.leave();
}

TEST_CASE("processes that come and go are noticed at once") {
  const std::string device = unique_device();
  SharedDevice shared;
  REQUIRE(shared.join(device.c_str()));
  CHECK(shared.changed());  // by ourselves
  CHECK_FALSE(shared.changed());
  OtherProcess other(device, [](SharedDevice&) {});
  CHECK(shared.changed());
  CHECK(shared.others() == 1);
  other.let_leave();
  CHECK(shared.changed());
  CHECK(shared.others() == 0);
  shared.leave();
}
