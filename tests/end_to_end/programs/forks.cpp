// Children that are created in unusual ways: forks CASE.

#include <dirent.h>
#include <link.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

// Waits for the child and prints how it ended.
int finish(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) std::printf("exited %d\n", WEXITSTATUS(status));
  if (WIFSIGNALED(status)) std::printf("signal %d\n", WTERMSIG(status));
  return 0;
}

// A child created without the C library's fork handlers. It gets a signal of the runtime's, and exits.
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

// Each generation has threads; the last one counts what is left.
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

// Every child works for `seconds` and ends.
int short_children(int count, double seconds) {
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      spin(seconds);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  return 0;
}

// Counts the system calls of each child that `parent` forks from now on, one after the other, until `parent`
// ends. A child stops twice in each call but the last. Prints the minimum. Uses the name of strace, which
// prof does not treat as a debugger. Returns false if tracing is not permitted here.
bool count_calls_of_children(pid_t parent, int ready) {
  prctl(PR_SET_NAME, "strace");
  const bool traces = ptrace(PTRACE_SEIZE, parent, 0, PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD) == 0;
  if (write(ready, &traces, sizeof traces) != sizeof traces || !traces) return false;
  int children = 0, stops = 0, status = 0, fewest = 1'000'000;
  for (pid_t stopped; (stopped = waitpid(-1, &status, __WALL)) > 0;) {
    if (!WIFSTOPPED(status)) {
      if (stopped == parent) break;
      fewest = std::min(fewest, (stops + 1) / 2);
      stops = 0;
      continue;
    }
    const bool is_call = WSTOPSIG(status) == (SIGTRAP | 0x80), is_event = status >> 16 != 0;
    stops += is_call;
    children += is_event && stopped != parent;  // its first stop
    const int signal = is_call || is_event ? 0 : WSTOPSIG(status);
    ptrace(stopped == parent ? PTRACE_CONT : PTRACE_SYSCALL, stopped, 0, signal);
  }
  std::printf("children %d, calls %d\n", children, fewest);
  return true;
}

// The tracer ends after this process, and then prints.
int traced_children(int count) {
  int ready[2];
  if (pipe(ready)) return 1;
  const pid_t parent = getpid();
  const pid_t tracer = fork();
  if (tracer == 0) _exit(count_calls_of_children(parent, ready[1]) ? 0 : 1);
  prctl(PR_SET_PTRACER, tracer);
  bool traces = false;
  if (read(ready[0], &traces, sizeof traces) != sizeof traces || !traces) return 77;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
  }
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
  if (how == "drops") {
    const pid_t child = fork();
    if (child) return finish(child);
    if (setgid(65534) || setuid(65534)) return 1;
    spin(kSpinSeconds);
    return 11;
  }
  // The C library's lock of its list of modules stays held in the child, without a holder.
  if (how == "callback")
    return dl_iterate_phdr([](dl_phdr_info*, size_t, void*) { return fork_once() + 1; }, nullptr) - 1;
  if (how == "short") return short_children(800, 0.001);
  if (how == "traced") return traced_children(10);
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
