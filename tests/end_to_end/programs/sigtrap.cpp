// What a program sees of SIGTRAP when it uses the signal itself: sigtrap CASE. Each case prints facts that
// must be the same whether or not the program is sampled by that signal.

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "spin.h"

namespace {

constexpr double kSpinSeconds = 0.2;  // some hundred samples at the rate the test asks for

volatile sig_atomic_t handled = 0;
volatile sig_atomic_t last_code = 0;

void count(int, siginfo_t* info, void*) {
  handled = handled + 1;
  last_code = info->si_code;
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = count;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
}

sigset_t only_trap() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTRAP);
  return set;
}

void print_state(const char* when) {
  sigset_t mask;
  sigset_t pending;
  struct sigaction action {};
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  sigpending(&pending);
  sigaction(SIGTRAP, nullptr, &action);
  const char* disposition = action.sa_handler == SIG_DFL   ? "default"
                            : action.sa_handler == SIG_IGN ? "ignored"
                                                           : "handled";
  std::printf("%s: blocked %d pending %d %s, handled %d code %d\n", when, sigismember(&mask, SIGTRAP),
              sigismember(&pending, SIGTRAP), disposition, static_cast<int>(handled),
              static_cast<int>(last_code));
}

void untouched() {
  print_state("start");
  spin(kSpinSeconds);
  print_state("end");
}

void handles() {
  install();
  for (int i = 0; i < 3; ++i) {
    spin(kSpinSeconds);
    raise(SIGTRAP);
    print_state("raised");
  }
  asm volatile("int3");
  print_state("breakpoint");
}

void blocks() {
  install();
  const sigset_t set = only_trap();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  spin(kSpinSeconds);
  print_state("blocked");
  kill(getpid(), SIGTRAP);
  spin(kSpinSeconds);
  print_state("sent");
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  print_state("unblocked");
}

void ignores() {
  signal(SIGTRAP, SIG_IGN);
  spin(kSpinSeconds);
  kill(getpid(), SIGTRAP);
  spin(kSpinSeconds);
  print_state("ignored");
  signal(SIGTRAP, SIG_DFL);
  spin(kSpinSeconds);
  print_state("default again");
}

void waits() {
  const sigset_t set = only_trap();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  spin(kSpinSeconds);
  const timespec soon{0, 50'000'000};
  std::printf("nothing sent: %d", sigtimedwait(&set, nullptr, &soon));
  std::printf(" %s\n", std::strerror(errno));
  kill(getpid(), SIGTRAP);
  spin(kSpinSeconds);
  siginfo_t info{};
  const int got = sigtimedwait(&set, &info, &soon);
  std::printf("sent: %d code %d from self %d\n", got, info.si_code, info.si_pid == getpid());
  std::thread sender([] {
    spin(kSpinSeconds);
    kill(getpid(), SIGTRAP);
  });
  int signal_number = 0;
  const int result = sigwait(&set, &signal_number);
  sender.join();
  std::printf("sigwait: %d signal %d\n", result, signal_number);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  spin(kSpinSeconds);
  std::printf("all signals: %d", sigtimedwait(&all, nullptr, &soon));
  std::printf(" %s\n", std::strerror(errno));
}

void reads_descriptor() {
  const sigset_t set = only_trap();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  const int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  signalfd_siginfo info{};
  spin(kSpinSeconds);
  std::printf("nothing sent: %zd\n", read(file, &info, sizeof info));
  kill(getpid(), SIGTRAP);
  spin(kSpinSeconds);
  std::printf("sent: %zd", read(file, &info, sizeof info));
  std::printf(" signal %u\n", info.ssi_signo);
  std::printf("again: %zd\n", read(file, &info, sizeof info));
}

void dies() {
  spin(kSpinSeconds);
  std::printf("raising\n");
  std::fflush(stdout);
  raise(SIGTRAP);
  std::printf("survived\n");
}

}  // namespace

int main(int, char** argv) {
  const struct {
    const char* name;
    void (*body)();
  } cases[] = {{"untouched", untouched},
               {"handles", handles},
               {"blocks", blocks},
               {"ignores", ignores},
               {"waits", waits},
               {"reads_descriptor", reads_descriptor},
               {"dies", dies}};
  for (const auto& entry : cases) {
    if (std::strcmp(argv[1], entry.name) == 0) {
      entry.body();
      return 0;
    }
  }
  return 99;
}
