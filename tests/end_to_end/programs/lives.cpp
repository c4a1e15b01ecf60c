// lives CASE [ARGUMENT]: threads and processes that begin and end in every possible way. Prints results that
// a profiler must not change.

#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "spin.h"

namespace {

constexpr double kShort = 0.0005;

size_t lines_of(const char* path, const std::string& with = "") {
  std::ifstream file(path);
  size_t lines = 0;
  for (std::string line; std::getline(file, line);) lines += line.find(with) != std::string::npos;
  return lines;
}

size_t open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  size_t count = 0;
  while (readdir(folder)) ++count;
  closedir(folder);
  return count;
}

void* work_shortly(void*) {
  spin(kShort);
  return nullptr;
}

void* rest(void*) {
  return nullptr;
}

pthread_t begin(void* (*routine)(void*), size_t stack = 0, bool detached = false) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack) pthread_attr_setstacksize(&attributes, stack);
  if (detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread{};
  if (const int error = pthread_create(&thread, &attributes, routine, nullptr)) {
    std::printf("pthread_create: error %d\n", error);
    std::exit(1);
  }
  pthread_attr_destroy(&attributes);
  return thread;
}

void begin_and_end(int threads, void* (*routine)(void*)) {
  constexpr int kAtOnce = 8;
  for (int i = 0; i < threads; i += kAtOnce) {
    pthread_t batch[kAtOnce];
    for (pthread_t& thread : batch) thread = begin(routine);
    for (const pthread_t thread : batch) pthread_join(thread, nullptr);
  }
}

// Measures what ended threads leave, once the C library's stacks and ours are in use.
int churn(int threads) {
  begin_and_end(400, work_shortly);
  const size_t maps = lines_of("/proc/self/maps");
  const size_t descriptors = open_descriptors();
  const size_t timers = lines_of("/proc/self/timers", "ID:");
  begin_and_end(threads, rest);
  begin_and_end(400, work_shortly);
  constexpr size_t kSlack = 24;  // for stacks that happen to be cached
  std::printf("more maps: %s\n", lines_of("/proc/self/maps") > maps + kSlack ? "yes" : "no");
  std::printf("more descriptors: %s\n", open_descriptors() > descriptors ? "yes" : "no");
  std::printf("more timers: %s\n", lines_of("/proc/self/timers", "ID:") > timers ? "yes" : "no");
  return 0;
}

int pool(int threads) {
  static pthread_barrier_t all;
  pthread_barrier_init(&all, nullptr, static_cast<unsigned>(threads));
  std::vector<pthread_t> pool;
  const auto routine = [](void*) -> void* {
    pthread_barrier_wait(&all);
    return work_shortly(nullptr);
  };
  for (int i = 0; i < threads; ++i) pool.push_back(begin(routine, 64 * 1024));
  for (const pthread_t thread : pool) pthread_join(thread, nullptr);
  std::printf("joined %zu\n", pool.size());
  return 0;
}

std::atomic<int> detached_done{0};

int detached(int threads) {
  for (int i = 0; i < threads; ++i) {
    begin([](void*) -> void* { return ++detached_done, nullptr; }, 0, true);
    usleep(1000);
  }
  while (detached_done < threads) usleep(1000);
  std::printf("done %d\n", detached_done.load());
  return 0;
}

int small_stacks(int threads) {
  for (int i = 0; i < threads; ++i) {
    const pthread_t thread = begin(
        [](void*) -> void* {
          spin(0.01);
          usleep(2000);
          return nullptr;
        },
        PTHREAD_STACK_MIN);
    pthread_join(thread, nullptr);
  }
  std::printf("joined %d\n", threads);
  return 0;
}

// Cancels threads in the middle of work, mostly while a sample of them is taken.
int cancel(int type, int threads) {
  static std::atomic<bool> working;
  static int cancel_type;
  cancel_type = type;
  int cancelled = 0;
  for (int i = 0; i < threads; ++i) {
    working = false;
    const pthread_t thread = begin([](void*) -> void* {
      pthread_setcanceltype(cancel_type, nullptr);
      for (uint64_t state = 1;;) {
        state = spin_steps(state);
        asm volatile("" : "+r"(state));
        working = true;
        if (cancel_type == PTHREAD_CANCEL_DEFERRED) pthread_testcancel();
      }
    });
    while (!working) usleep(100);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    cancelled += result == PTHREAD_CANCELED;
  }
  std::printf("cancelled %d\n", cancelled);
  return 0;
}

// The process ends with its last thread.
int main_exits() {
  begin(
      [](void*) -> void* {
        spin(0.3);
        std::printf("outlived main\n");
        return nullptr;
      },
      0, true);
  pthread_exit(nullptr);
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int double_fork() {
  int done[2];
  if (pipe(done) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    if (fork() != 0) _exit(3);
    setsid();
    spin(0.2);
    std::exit(write(done[1], "x", 1) == 1 ? 0 : 1);
  }
  close(done[1]);
  const int status = status_of(child);
  char byte = 0;
  const ssize_t got = read(done[0], &byte, 1);
  std::printf("child %d, grandchild %c\n", status, got == 1 ? byte : '-');
  return 0;
}

// The marker shows that the daemon has ended, for which no process waits.
int becomes_daemon(const char* marker) {
  if (daemon(1, 1) != 0) return 1;
  spin(0.2);
  std::ofstream(marker) << "done\n";
  return 0;
}

// A static program is not measured: it must not get anything that was meant for the process before the exec.
int executes(char* program) {
  constexpr int kTurns = 10;
  char* const arguments[] = {program, nullptr};
  for (int i = 0; i < kTurns; ++i) {
    const pid_t forked = fork();
    if (forked == 0) {
      spin(0.005);
      execv(program, arguments);
      _exit(127);
    }
    const pid_t vforked = vfork();
    if (vforked == 0) {
      execv(program, arguments);
      _exit(127);
    }
    pid_t spawned = 0;
    posix_spawn(&spawned, program, nullptr, nullptr, arguments, environ);
    std::printf("%d %d %d\n", status_of(forked), status_of(vforked), status_of(spawned));
  }
  return 0;
}

// Forks a process with many busy threads, while samples arrive.
int forks_of_many(int forks) {
  static std::atomic<bool> stop{false};
  std::vector<pthread_t> workers;
  for (int i = 0; i < 16; ++i) {
    workers.push_back(begin([](void*) -> void* {
      while (!stop) spin(kShort);
      return nullptr;
    }));
  }
  int right = 0;
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      spin(0.002);
      std::_Exit(11);
    }
    right += status_of(child) == 11;
  }
  stop = true;
  for (const pthread_t worker : workers) pthread_join(worker, nullptr);
  std::printf("right %d\n", right);
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto number = [&] { return std::atoi(argv[2]); };
  if (what == "churn") return churn(number());
  if (what == "pool") return pool(number());
  if (what == "detached") return detached(number());
  if (what == "small_stacks") return small_stacks(number());
  if (what == "cancel_at_once") return cancel(PTHREAD_CANCEL_ASYNCHRONOUS, number());
  if (what == "cancel_later") return cancel(PTHREAD_CANCEL_DEFERRED, number());
  if (what == "main_exits") return main_exits();
  if (what == "double_fork") return double_fork();
  if (what == "daemon") return becomes_daemon(argv[2]);
  if (what == "executes") return executes(argv[2]);
  if (what == "forks_of_many") return forks_of_many(number());
  return 2;
}
