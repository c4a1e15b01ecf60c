// The state of a signal of ours in the children of a program that uses it, and in what they execute:
// signal_children CASE SIGNAL.

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <thread>

#include "own_signal.h"

namespace {

void a_vfork_child_resets_all() {
  signal(own, count);
  sigset_t all;
  sigfillset(&all);
  const pid_t child = vfork();
  if (child == 0) {
    for (int i = 1; i < NSIG; ++i) signal(i, SIG_DFL);
    sigprocmask(SIG_BLOCK, &all, nullptr);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::printf("status %d\n", status);
  raise(own);
  spin_and_print("after");
}

void forks_with_one_pending() {
  signal(own, count);
  block();
  raise(own);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child > 0) waitpid(child, nullptr, 0);
  spin_and_print(child ? "parent" : "child");
  std::fflush(stdout);
  if (child == 0) _exit(handled);
  unblock();
  print_state("unblocked");
}

void forks_while_actions_change() {
  std::atomic<bool> done{false};
  std::thread changing([&] {
    while (!done) signal(own, count);
  });
  int failed = 0;
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      signal(own, count);
      raise(own);
      _exit(handled != 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    failed += status != 0;
  }
  done = true;
  changing.join();
  spin(kSpinSeconds);
  std::printf("failed %d\n", failed);
}

void shows() {
  spin_and_print("executed");
  raise(own);
  signal(own, count);
  unblock();
  print_state("unblocked");
}

void executes() {
  signal(own, SIG_IGN);
  block();
  execl("/nowhere", "nowhere", nullptr);
  spin_and_print("failed");
  raise(own);
  std::fflush(stdout);
  execl("/proc/self/exe", "signal_children", "shows", name_of_own(), nullptr);
}

void executes_in_vfork_child() {
  signal(own, SIG_IGN);
  block();
  const pid_t child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", "signal_children", "shows", name_of_own(), nullptr);
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  spin_and_print("parent");
}

void spawns() {
  signal(own, SIG_IGN);
  block();
  raise(own);
  const char* const command[] = {"signal_children", "shows", name_of_own(), nullptr};
  for (auto* spawn : {posix_spawn, posix_spawnp}) {
    pid_t child = 0;
    spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(command), environ);
    waitpid(child, nullptr, 0);
    spin_and_print("parent");
  }
}

void opens_a_pipe() {
  signal(own, SIG_IGN);
  block();
  char command[PATH_MAX + 64] = {};
  if (readlink("/proc/self/exe", command, PATH_MAX) < 0) return;
  std::strcat(std::strcat(command, " shows "), name_of_own());
  FILE* shell = popen(command, "r");
  for (int c; (c = std::getc(shell)) != EOF;) std::putchar(c);
  std::printf("status %d\n", pclose(shell));
  spin_and_print("parent");
  errno = 0;
  shell = popen(command, "no such mode");
  std::printf("%d %d\n", shell == nullptr, errno);
}

}  // namespace

int main(int, char** argv) {
  return run_case(argv, {{"a_vfork_child_resets_all", a_vfork_child_resets_all},
                         {"forks_with_one_pending", forks_with_one_pending},
                         {"forks_while_actions_change", forks_while_actions_change},
                         {"shows", shows},
                         {"executes", executes},
                         {"spawns", spawns},
                         {"opens_a_pipe", opens_a_pipe},
                         {"executes_in_vfork_child", executes_in_vfork_child}});
}
