// A program that installs handlers of SIGTRAP and takes them back while the processor's breakpoints raise the
// same signal in its threads, which contend for a cache line all the time: taken_traps CASE. Each case prints
// facts that must be the same whether or not anybody looks for that.

#include <signal.h>
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
std::atomic<int> traps{0};     // that the handler below got
std::atomic<int> not_sent{0};  // those of them that the program has not sent
volatile sig_atomic_t last_code = 0;

void contend(int word) {
  for (int i = 0; i < 100'000; ++i) words[word] = words[word] + 1;
}

void contend_for(double cpu_seconds) {
  const double end = thread_cpu_seconds() + cpu_seconds;
  while (thread_cpu_seconds() < end) contend(0);
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

// From one handler to none, to another, to none; one that takes itself back at its first signal is there
// until that comes.
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

// Every few microseconds; the other thread sends to the process, always while there is a handler, and waits.
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
  const int status = run_case(argv, {{"takes_back", takes_back}, {"alternates", alternates}, {"dies", dies}});
  is_over.store(true);
  partner.join();
  return status;
}
