// Effects of SIGTRAP in a program that uses the signal itself: sigtrap CASE. Each case prints facts that must
// be the same whether or not the program is sampled by that signal.

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>

#include "own_signal.h"

namespace {

constexpr double kLongSpinSeconds = 0.2;  // some hundred samples at the rate that the test requests

volatile sig_atomic_t last_code = 0;

void count_and_keep_code(int, siginfo_t* info, void*) {
  handled = handled + 1;
  last_code = info->si_code;
}

void install() {
  struct sigaction action {};
  action.sa_sigaction = count_and_keep_code;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
}

void print_state_and_code(const char* when) {
  print_state(when);
  std::printf("code %d\n", static_cast<int>(last_code));
}

void untouched() {
  print_state_and_code("start");
  spin(kLongSpinSeconds);
  print_state_and_code("end");
}

void handles() {
  install();
  for (int i = 0; i < 3; ++i) {
    spin(kLongSpinSeconds);
    raise(SIGTRAP);
    print_state_and_code("raised");
  }
  asm volatile("int3");
  print_state_and_code("breakpoint");
}

void blocks() {
  install();
  block();
  spin(kLongSpinSeconds);
  print_state_and_code("blocked");
  kill(getpid(), SIGTRAP);
  spin(kLongSpinSeconds);
  print_state_and_code("sent");
  unblock();
  print_state_and_code("unblocked");
}

void ignores() {
  signal(SIGTRAP, SIG_IGN);
  spin(kLongSpinSeconds);
  kill(getpid(), SIGTRAP);
  spin(kLongSpinSeconds);
  print_state_and_code("ignored");
  signal(SIGTRAP, SIG_DFL);
  spin(kLongSpinSeconds);
  print_state_and_code("default again");
}

void waits() {
  const sigset_t set = only_own();
  block();
  spin(kLongSpinSeconds);
  const timespec soon{0, 50'000'000};
  std::printf("nothing sent: %d", sigtimedwait(&set, nullptr, &soon));
  std::printf(" %s\n", std::strerror(errno));
  kill(getpid(), SIGTRAP);
  spin(kLongSpinSeconds);
  siginfo_t info{};
  const int got = sigtimedwait(&set, &info, &soon);
  std::printf("sent: %d code %d from self %d\n", got, info.si_code, info.si_pid == getpid());
  std::thread sender([] {
    spin(kLongSpinSeconds);
    kill(getpid(), SIGTRAP);
  });
  int signal_number = 0;
  const int result = sigwait(&set, &signal_number);
  sender.join();
  std::printf("sigwait: %d signal %d\n", result, signal_number);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  spin(kLongSpinSeconds);
  std::printf("all signals: %d", sigtimedwait(&all, nullptr, &soon));
  std::printf(" %s\n", std::strerror(errno));
}

void reads_descriptor() {
  const sigset_t set = only_own();
  block();
  const int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  signalfd_siginfo info{};
  spin(kLongSpinSeconds);
  std::printf("nothing sent: %zd\n", read(file, &info, sizeof info));
  kill(getpid(), SIGTRAP);
  spin(kLongSpinSeconds);
  std::printf("sent: %zd", read(file, &info, sizeof info));
  std::printf(" signal %u\n", info.ssi_signo);
  std::printf("again: %zd\n", read(file, &info, sizeof info));
}

void dies() {
  spin(kLongSpinSeconds);
  std::printf("raising\n");
  std::fflush(stdout);
  raise(SIGTRAP);
  std::printf("survived\n");
}

}  // namespace

int main(int, char** argv) {
  return run_case(argv, {{"untouched", untouched},
                         {"handles", handles},
                         {"blocks", blocks},
                         {"ignores", ignores},
                         {"waits", waits},
                         {"reads_descriptor", reads_descriptor},
                         {"dies", dies}});
}
