#pragma once
// Shared by programs that use one of the runtime's signals themselves: PROGRAM CASE
// [sigtrap|realtime]. Each case prints facts that must be the same whether or not the program is
// sampled by that signal.

#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "spin.h"

using Handler = void (*)(int);

constexpr double kSpinSeconds = 0.05;  // some samples at the rate that the test requests

inline int own = SIGTRAP;  // the signal that the case uses
inline volatile sig_atomic_t handled = 0;

inline void count(int) {
  handled = handled + 1;
}

inline const char* name_of(Handler handler) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return handler == SIG_DFL    ? "default"
         : handler == SIG_IGN  ? "ignored"
         : handler == SIG_HOLD ? "held"
         : handler == SIG_ERR  ? "error"
         : handler == count    ? "count"
                               : "another";
#pragma GCC diagnostic pop
}

inline sigset_t only_own() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, own);
  return set;
}

inline void print_state(const char* when) {
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

inline void spin_and_print(const char* when) {
  spin(kSpinSeconds);
  print_state(when);
}

inline void block() {
  const sigset_t set = only_own();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

inline void unblock() {
  const sigset_t set = only_own();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

inline const char* name_of_own() {
  return own == SIGTRAP ? "sigtrap" : "realtime";
}

struct Case {
  const char* name;
  void (*body)();
};

// Returns the program's exit status.
inline int run_case(char** argv, std::initializer_list<Case> cases) {
  if (argv[2] && std::strcmp(argv[2], "realtime") == 0) own = SIGRTMAX - 1;
  for (const auto& [name, body] : cases) {
    if (std::strcmp(argv[1], name) == 0) {
      body();
      return 0;
    }
  }
  return 99;
}
