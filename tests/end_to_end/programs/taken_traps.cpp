// A program that uses SIGTRAP while the processor's breakpoints raise the same signal in its threads, which
// contend for a cache line all the time: taken_traps CASE. It installs and removes handlers, and sends the
// signal to single threads. Each case prints facts that must be the same whether or not contention is
// searched for.

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <thread>

#include "own_signal.h"

namespace {

constexpr double kLongSeconds = 0.5;  // of CPU time, in which breakpoints are set and hit
constexpr int kTurns = 2'000;

alignas(64) volatile uint64_t words[3];
std::atomic<bool> is_over{false};
std::atomic<int> traps{0};     // received by the handler below
std::atomic<int> not_sent{0};  // those of them that the program has not sent
volatile sig_atomic_t last_code = 0;

void contend(int word) {
  for (int i = 0; i < 100'000; ++i) words[word] = words[word] + 1;
}

void contend_for(double cpu_seconds) {
  const double end = thread_cpu_seconds() + cpu_seconds;
  while (thread_cpu_seconds() < end) contend(0);
}

void contend_briefly() {
  for (int i = 0; i < 50; ++i) words[0] = words[0] + 1;
}

void keep_code(int, siginfo_t* info, void*) {
  handled = handled + 1;
  last_code = info->si_code;
}

void count_sent(int, siginfo_t* info, void*) {
  traps.fetch_add(1);
  if (info->si_code != SI_USER) not_sent.fetch_add(1);
}

void install(void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigaction(SIGTRAP, &action, nullptr);
}

void take_back() {
  signal(SIGTRAP, SIG_DFL);
}

void print_after_contention(const char* when) {
  contend_for(kLongSeconds);
  print_state(when);
  std::printf("code %d\n", static_cast<int>(last_code));
}

// From one handler to none, to another, to none. A handler that removes itself at its first signal stays
// until that arrives.
void takes_back() {
  install(keep_code);
  print_after_contention("installed");
  raise(SIGTRAP);
  take_back();
  print_after_contention("taken back");
  signal(SIGTRAP, count);
  print_after_contention("another");
  raise(SIGTRAP);
  take_back();
  install(keep_code, static_cast<int>(SA_RESETHAND));
  print_after_contention("for one signal");
  raise(SIGTRAP);
  print_after_contention("after that one");
  install(keep_code);
  asm volatile("int3");
  take_back();
  print_after_contention("after a breakpoint of its own");
}

// Changes every few microseconds. The other thread sends to the process, always while there is a handler, and
// waits.
void alternates() {
  std::atomic<int> turn{0}, sent{0};
  std::thread sender([&] {
    for (int i = 1; i <= kTurns; ++i) {
      while (turn.load() < i) words[2] = words[2] + 1;
      kill(getpid(), SIGTRAP);
      sent.store(i);
    }
  });
  for (int i = 1; i <= kTurns; ++i) {
    for (int change = 0; change < 10; ++change) {
      install(count_sent);
      words[0] = words[0] + 1;
      take_back();
      words[0] = words[0] + 1;
    }
    install(count_sent);
    turn.store(i);
    while (sent.load() < i || traps.load() < i) words[0] = words[0] + 1;
    take_back();
  }
  sender.join();
  std::printf("sent %d handled %d of them %d by others\n", sent.load(), traps.load(), not_sent.load());
}

constexpr int kValue = 4711;

// Ways to send the signal to a thread.
struct Way {
  const char* name;
  void (*send)(pthread_t thread, pid_t tid);
  int code;
};

constexpr Way kWays[] = {
    {"pthread_kill", [](pthread_t thread, pid_t) { pthread_kill(thread, SIGTRAP); }, SI_TKILL},
    {"pthread_sigqueue",
     [](pthread_t thread, pid_t) {
       sigval value{};
       value.sival_int = kValue;
       pthread_sigqueue(thread, SIGTRAP, value);
     },
     SI_QUEUE},
    {"tgkill", [](pthread_t, pid_t tid) { tgkill(getpid(), tid, SIGTRAP); }, SI_TKILL},
    {"syscall tgkill", [](pthread_t, pid_t tid) { syscall(SYS_tgkill, getpid(), tid, SIGTRAP); }, SI_TKILL},
    {"syscall tkill", [](pthread_t, pid_t tid) { syscall(SYS_tkill, tid, SIGTRAP); }, SI_TKILL},
    {"syscall rt_tgsigqueueinfo",
     [](pthread_t, pid_t tid) {
       siginfo_t info{};
       info.si_code = SI_QUEUE;
       info.si_pid = getpid();
       info.si_uid = getuid();
       info.si_value.sival_int = kValue;
       syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, SIGTRAP, &info);
     },
     SI_QUEUE},
};

std::atomic<int> expected_code{0};
std::atomic<int> wrong{0};  // received signals with other data than was sent, or in another thread

void check_taken(const siginfo_t& info, pid_t taker) {
  const int code = expected_code.load();
  const bool is_right = info.si_signo == SIGTRAP && info.si_code == code && info.si_pid == getpid() &&
                        info.si_uid == getuid() && gettid() == taker &&
                        (code != SI_QUEUE || info.si_value.sival_int == kValue);
  if (!is_right) wrong.fetch_add(1);
}

pid_t target = 0;

void count_taken(int, siginfo_t* info, void*) {
  check_taken(*info, target);
  traps.fetch_add(1);
}

// Has another thread send that many times in each way; take(n) returns when the n-th was taken.
template <typename Take>
void print_taken(int turns, Take take) {
  target = gettid();
  const pthread_t self = pthread_self();
  for (const Way& way : kWays) {
    std::atomic<int> turn{0};
    traps.store(0);
    wrong.store(0);
    expected_code.store(way.code);
    std::thread sender([&] {
      for (int i = 1; i <= turns; ++i) {
        while (turn.load() < i) words[2] = words[2] + 1;
        way.send(self, target);
      }
    });
    for (int i = 1; i <= turns; ++i) {
      turn.store(i);
      take(i);
    }
    sender.join();
    std::printf("%s: taken %d wrong %d\n", way.name, traps.load(), wrong.load());
  }
}

void answers() {
  install(count_taken);
  print_taken(kTurns / 2, [](int turn) {
    while (traps.load() < turn) words[0] = words[0] + 1;
  });
  std::printf("raised");
  expected_code.store(SI_TKILL);
  for (int i = 0; i < kTurns; ++i) {
    const int before = traps.load();
    contend_briefly();
    raise(SIGTRAP);
    if (traps.load() != before + 1) std::printf(" lost %d", i);
  }
  std::printf(" wrong %d\n", wrong.load());
}

// Blocked while the signal is sent as well as while it is not: it is delivered as soon as it is unblocked.
void answers_unblocked() {
  install(count_taken);
  print_taken(kTurns / 4, [](int turn) {
    while (traps.load() < turn) {
      block();
      contend_briefly();
      unblock();
    }
  });
}

void answers_waited_for() {
  const sigset_t set = only_own();
  block();
  print_taken(kTurns / 4, [&](int turn) {
    siginfo_t info{};
    contend_briefly();
    if (turn % 2) {
      sigset_t pending;
      do {
        contend_briefly();
        sigpending(&pending);
      } while (!sigismember(&pending, SIGTRAP));
    }
    while (sigwaitinfo(&set, &info) != SIGTRAP) {
    }
    if (info.si_code == SI_USER) info.si_code = SI_TKILL;  // as the C library does here
    check_taken(info, target);
    traps.fetch_add(1);
  });
}

void dies() {
  install(keep_code);
  contend_for(kLongSeconds);
  take_back();
  print_after_contention("taken back");
  std::fflush(stdout);
  raise(SIGTRAP);
  std::printf("survived\n");
}

}  // namespace

int main(int, char** argv) {
  std::thread partner([] {
    while (!is_over.load()) contend(1);
  });
  const int status = run_case(argv, {{"takes_back", takes_back},
                                     {"alternates", alternates},
                                     {"answers", answers},
                                     {"answers_unblocked", answers_unblocked},
                                     {"answers_waited_for", answers_waited_for},
                                     {"dies", dies}});
  is_over.store(true);
  partner.join();
  return status;
}
