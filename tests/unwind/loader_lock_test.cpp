// The loader's lock is found among its variables by its holder, and a forked child never waits for a lost
// lock.

#include "hpcrun/unwind/loader_lock.h"

#include <link.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "hpcrun/unwind/modules.h"

using namespace hpcrun;

namespace {

template <typename Do>
void in_callback(Do does) {
  dl_iterate_phdr(
      [](dl_phdr_info*, size_t, void* raw) {
        (*static_cast<Do*>(raw))();
        return 1;
      },
      &does);
}

void find(LoaderLock& lock) {
  lock.look_before();
  in_callback([&] { lock.look_inside(); });
}

}  // namespace

TEST_CASE("the loader's lock is held in callbacks of dl_iterate_phdr, whichever thread is in one") {
  LoaderLock lock;
  CHECK_FALSE(lock.is_held());
  find(lock);
  REQUIRE(lock.is_found());
  CHECK_FALSE(lock.is_held());
  in_callback([&] { CHECK(lock.is_held()); });
  bool is_held_by_another = false;
  std::thread([&] { in_callback([&] { is_held_by_another = lock.is_held(); }); }).join();
  CHECK(is_held_by_another);
  CHECK_FALSE(lock.is_held());
}

TEST_CASE("the loader's lock is found by a thread that has it already") {
  LoaderLock lock;
  in_callback([&] { find(lock); });
  REQUIRE(lock.is_found());
  CHECK_FALSE(lock.is_held());
  in_callback([&] { CHECK(lock.is_held()); });
}

TEST_CASE("a child that was forked in a callback of dl_iterate_phdr does not wait for its lock") {
  refresh_modules();
  pid_t child = -1;
  in_callback([&] {
    child = fork();
    if (child != 0) return;
    alarm(60);  // in case it waits
    modules_after_fork();
    refresh_modules();
    _exit(0);
  });
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
}
