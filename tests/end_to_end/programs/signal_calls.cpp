// What a program sees of a signal of ours through the less common signal functions: signal_calls CASE SIGNAL.
// Each case prints facts that must be the same whether or not the program is sampled by that signal.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "spin.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wrestrict"  // swaps_in_place does what programs do

extern "C" {
void (*bsd_signal(int, void (*)(int)))(int);
int bsd_sigpause(int mask) __asm__("sigpause");
int raw_sigaction(int, const struct sigaction*, struct sigaction*) __asm__("__sigaction");
}

namespace {

using Handler = void (*)(int);

constexpr double kSpinSeconds = 0.03;  // some samples at the rate the test asks for

int own = 0;  // the signal that the case is about
volatile sig_atomic_t handled = 0;

void count(int) {
  handled = handled + 1;
}

const char* name_of(Handler handler) {
  return handler == SIG_DFL    ? "default"
         : handler == SIG_IGN  ? "ignored"
         : handler == SIG_HOLD ? "held"
         : handler == SIG_ERR  ? "error"
         : handler == count    ? "count"
                               : "another";
}

sigset_t only_own() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, own);
  return set;
}

void print_state(const char* when) {
  sigset_t mask;
  sigset_t pending;
  struct sigaction action {};
  sigprocmask(SIG_BLOCK, nullptr, &mask);
  sigpending(&pending);
  sigaction(own, nullptr, &action);
  std::printf("%s: blocked %d pending %d %s restart %d, handled %d\n", when, sigismember(&mask, own),
              sigismember(&pending, own), name_of(action.sa_handler), !!(action.sa_flags & SA_RESTART),
              static_cast<int>(handled));
}

void spin_and_print(const char* when) {
  spin(kSpinSeconds);
  print_state(when);
}

void old_handlers() {
  const struct {
    const char* name;
    Handler (*install)(int, Handler);
  } functions[] = {{"signal", signal},
                   {"ssignal", ssignal},
                   {"bsd_signal", bsd_signal},
                   {"sysv_signal", sysv_signal},
                   {"sigset", sigset}};
  for (const auto& function : functions) {
    std::printf("%s %s\n", function.name, name_of(function.install(own, count)));
    spin_and_print(function.name);
    raise(own);
    print_state("raised");
    std::printf("%s %s\n", function.name, name_of(function.install(own, SIG_DFL)));
    spin_and_print("default again");
  }
  struct sigaction action {};
  action.sa_handler = count;
  std::printf("__sigaction %d\n", raw_sigaction(own, &action, nullptr));
  spin_and_print("__sigaction");
  siginterrupt(own, 0);
  spin_and_print("restarts");
  siginterrupt(own, 1);
  signal(own, count);
  spin_and_print("interrupts");
  raise(own);
  print_state("raised");
}

void old_masks() {
  signal(own, count);
  sighold(own);
  spin_and_print("sighold");
  raise(own);
  print_state("raised");
  sigrelse(own);
  print_state("sigrelse");
  std::printf("sigset %s\n", name_of(sigset(own, SIG_HOLD)));
  raise(own);
  std::printf("sigpause %d\n", sigpause(own));
  print_state("sigpause");
  std::printf("sigset %s\n", name_of(sigset(own, count)));
  print_state("sigset");
  sigignore(own);
  spin_and_print("sigignore");
  raise(own);
  print_state("raised");
}

// The 32 signals of BSD's sets have no real-time signals among them.
void bsd_masks() {
  signal(own, count);
  const int before = sigblock(~0);
  spin_and_print("sigblock");
  raise(own);
  std::printf("set %d\n", !!(sigblock(0) & (1 << (own - 1))));
  std::printf("sigpause %d\n", bsd_sigpause(0));
  print_state("sigpause");
  raise(own);
  sigsetmask(before);
  print_state("sigsetmask");
}

void swaps_in_place() {
  signal(own, count);
  sigset_t set = only_own();
  sigprocmask(SIG_BLOCK, &set, &set);
  std::printf("before: %d\n", sigismember(&set, own));
  spin_and_print("blocked");
  raise(own);
  sigprocmask(SIG_SETMASK, &set, &set);
  std::printf("before: %d\n", sigismember(&set, own));
  spin_and_print("restored");
}

}  // namespace

int main(int, char** argv) {
  const struct {
    const char* name;
    void (*body)();
  } cases[] = {{"old_handlers", old_handlers},
               {"old_masks", old_masks},
               {"bsd_masks", bsd_masks},
               {"swaps_in_place", swaps_in_place}};
  own = std::strcmp(argv[2], "realtime") == 0 ? SIGRTMAX - 1 : SIGTRAP;
  for (const auto& entry : cases) {
    if (std::strcmp(argv[1], entry.name) == 0) {
      entry.body();
      return 0;
    }
  }
  return 99;
}
