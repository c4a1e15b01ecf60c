// Effects of the less common signal functions on a signal of ours, and of jumps, contexts and threads that
// carry masks: signal_calls CASE SIGNAL.

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include <cstdio>

#include "own_signal.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wrestrict"  // swaps_in_place does this as programs do

extern "C" {
void (*bsd_signal(int, void (*)(int)))(int);
int bsd_sigpause(int mask) __asm__("sigpause");
int raw_sigaction(int, const struct sigaction*, struct sigaction*) __asm__("__sigaction");
}

namespace {

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

// The 32 signals of BSD's sets include no real-time signals.
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

sigjmp_buf back;

void jump_back(int) {
  handled = handled + 1;
  siglongjmp(back, 1);
}

void jumps() {
  signal(own, jump_back);
  if (sigsetjmp(back, 1) == 0) {
    block();
    siglongjmp(back, 1);
  }
  print_state("jumped");
  if (sigsetjmp(back, 1) == 0) raise(own);
  print_state("out of a handler");
  if (sigsetjmp(back, 0) == 0) raise(own);
  print_state("without the mask");
  spin(kSpinSeconds);
  if (sigsetjmp(back, 1) == 0) {
    unblock();
    longjmp(back, 1);
  }
  print_state("blocked as before");
}

ucontext_t main_context;
ucontext_t other_context;

void other_routine() {
  print_state("other");
  block();
  swapcontext(&other_context, &main_context);
  spin_and_print("other again");
  unblock();
}

void switches_contexts() {
  static char stack[256 * 1024];
  signal(own, count);
  getcontext(&other_context);
  other_context.uc_stack.ss_sp = stack;
  other_context.uc_stack.ss_size = sizeof stack;
  other_context.uc_link = &main_context;
  makecontext(&other_context, other_routine, 0);
  swapcontext(&main_context, &other_context);
  print_state("main");
  swapcontext(&main_context, &other_context);
  print_state("main again");
  block();
  volatile bool returned = false;
  getcontext(&main_context);
  if (!returned) {
    returned = true;
    unblock();
    setcontext(&main_context);
  }
  spin_and_print("set");
}

void* masked_routine(void*) {
  spin_and_print("masked");
  return nullptr;
}

void threads_with_masks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  sigset_t set;
  sigfillset(&set);
  for (int i = 0; i < 2; ++i) {
    pthread_attr_setsigmask_np(&attributes, &set);
    pthread_t thread;
    pthread_create(&thread, &attributes, masked_routine, nullptr);
    pthread_join(thread, nullptr);
    block();
    sigemptyset(&set);
  }
}

void raise_again(int) {
  handled = handled + 1;
  if (handled == 1) raise(own);
  print_state("handling");
}

void raises_in_handler() {
  signal(own, raise_again);
  spin(kSpinSeconds);
  raise(own);
  print_state("handled");
  block();
  raise(own);
  print_state("blocked");
  signal(own, SIG_IGN);
  spin_and_print("ignored");
}

}  // namespace

int main(int, char** argv) {
  return run_case(argv, {{"old_handlers", old_handlers},
                         {"old_masks", old_masks},
                         {"bsd_masks", bsd_masks},
                         {"swaps_in_place", swaps_in_place},
                         {"jumps", jumps},
                         {"switches_contexts", switches_contexts},
                         {"threads_with_masks", threads_with_masks},
                         {"raises_in_handler", raises_in_handler}});
}
