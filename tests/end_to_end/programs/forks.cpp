// Children that come to be in unusual ways: forks CASE.

#include <dirent.h>
#include <link.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "spin.h"

namespace {

constexpr double kSpinSeconds = 0.1;
constexpr int kIdleThreads = 40;

// Waits for the child and says how it ended.
int finish(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) std::printf("exited %d\n", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) std::printf("signal %d\n", WTERMSIG(status));
  return 0;
}

// A child that the C library's fork handlers do not know of: it gets a signal of the runtime's, and exits.
[[noreturn]] void child_without_handlers() {
  std::signal(SIGRTMAX - 1, [](int) {});
  raise(SIGRTMAX - 1);
  std::thread([] { spin(kSpinSeconds); }).join();
  std::exit(7);
}

void start_idle_threads() {
  for (int i = 0; i < kIdleThreads; ++i)
    std::thread([] {
      for (;;) pause();
    }).detach();
}

int count_perf_descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(folder)) {
    char target[256] = {};
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    if (readlink(path.c_str(), target, sizeof target - 1) > 0 && std::strstr(target, "perf_event")) ++count;
  }
  closedir(folder);
  return count;
}

int fork_once() {
  const pid_t child = fork();
  if (child) return finish(child);
  spin(kSpinSeconds);
  return 11;
}

// Each generation has threads; the last counts what was left to it.
int generations(int left) {
  const pid_t child = fork();
  if (child) {
    waitpid(child, nullptr, 0);
    _exit(0);
  }
  if (left) {
    start_idle_threads();
    return generations(left - 1);
  }
  std::printf("perf descriptors %d\n", count_perf_descriptors());
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  const std::string how = arguments[1];
  if (how == "_Fork" || how == "clone") {
    const auto child = how == "clone" ? static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) : _Fork();
    if (child) return finish(child);
    child_without_handlers();
  }
  if (how == "clearenv") {
    clearenv();
    return fork_once();
  }
  if (how == "unprivileged") {
    if (setgid(65534) || setuid(65534)) return 1;
    for (int i = 0; i < 3; ++i) fork_once() == 11 ? std::exit(11) : void();
    return 0;
  }
  // Where the C library's lock of its list of modules stays held in the child, by nobody.
  if (how == "callback")
    return dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return fork_once() + 1; }, nullptr) - 1;
  if (how == "memory") {
    start_idle_threads();
    std::printf("parent %d\n", getpid());
    return fork_once();
  }
  if (how == "descriptors") {
    start_idle_threads();
    return generations(2);
  }
  return 2;
}
