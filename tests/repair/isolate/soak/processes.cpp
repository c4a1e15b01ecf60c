// Children of all kinds: forked ones have the parent's data, and what they write is their own. Also libraries
// that are loaded.

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>

#include "soak.h"

namespace soak {

namespace {

constexpr int kRight = 7;

struct alignas(kPage) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
} of_all;
struct {
  volatile uint64_t forks;
  volatile uint64_t children;  // 0 in the parent
  uint64_t calls;              // of the loaded library
} all;

void await_status(pid_t child, int wanted) {
  SOAK_REQUIRE(child > 0);
  int status = 0;
  while (waitpid(child, &status, 0) != child) SOAK_REQUIRE(errno == EINTR);
  SOAK_REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == wanted);
}

void fork_one(Worker& worker) {
  if (!is_time_to_fork()) return;
  pthread_mutex_lock(&of_all.mutex);
  all.forks = all.forks + 1;
  const uint64_t forks = all.forks;
  const bool executes = worker.below(2) == 0;
  const pid_t child = fork();
  if (child == 0) {
    if (!has_own_words(worker) || all.forks != forks || all.children) _exit(1);
    add_to_words(worker);
    if (!has_own_words(worker)) _exit(2);
    all.children = 1;
    all.forks = 0;
    usleep(5'000);
    if (executes) execl("/bin/sh", "sh", "-c", "exit 7", nullptr);
    _exit(all.forks == 0 && all.children == 1 ? kRight : 3);
  }
  pthread_mutex_unlock(&of_all.mutex);
  add_to_words(worker);
  await_status(child, kRight);
  SOAK_REQUIRE(has_own_words(worker) && all.children == 0);
}

void spawn_one(Worker& worker) {
  switch (worker.below(4)) {
    case 0: {
      const pid_t child = vfork();
      if (child == 0) _exit(kRight);
      return await_status(child, kRight);
    }
    case 1: {
      char program[] = "/bin/sh", option[] = "-c", text[] = "exit 7";
      char* const arguments[] = {program, option, text, nullptr};
      pid_t child = 0;
      SOAK_REQUIRE(posix_spawn(&child, program, nullptr, nullptr, arguments, environ) == 0);
      return await_status(child, kRight);
    }
    case 2:
      SOAK_REQUIRE(system("exit 7") == kRight << 8);
      return;
    default: {
      FILE* const pipe = popen("echo said", "r");
      SOAK_REQUIRE(pipe);
      char line[16] = {};
      SOAK_REQUIRE(fgets(line, sizeof line, pipe) && strcmp(line, "said\n") == 0);
      SOAK_REQUIRE(pclose(pipe) == 0);
    }
  }
}

void load_one(Worker&) {
  pthread_mutex_lock(&of_all.mutex);
  void* const library = dlopen(getenv("SOAK_LIBRARY"), RTLD_NOW);
  SOAK_REQUIRE(library);
  const auto add = reinterpret_cast<void (*)()>(dlsym(library, "add_to_loaded"));
  const auto sum = reinterpret_cast<uint64_t (*)()>(dlsym(library, "loaded_sum"));
  SOAK_REQUIRE(add && sum);
  const uint64_t before = sum();
  for (int i = 0; i < 100; ++i) add();
  SOAK_REQUIRE(sum() == before + 100);
  SOAK_REQUIRE(dlclose(library) == 0);
  ++all.calls;
  pthread_mutex_unlock(&of_all.mutex);
}

constexpr Action kActions[] = {{"fork", 8, fork_one}, {"spawn", 2, spawn_one}, {"load", 1, load_one}};

}  // namespace

const Part processes{kActions, [] {}, [] { SOAK_REQUIRE(all.children == 0); }};

}  // namespace soak
