// What a program sees of a signal of ours through the less common signal functions: signal_calls CASE SIGNAL.
// Each case prints facts that must be the same whether or not the program is sampled by that signal.

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "spin.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wrestrict"  // swaps_in_place does what programs do

extern "C" {
void (*bsd_signal(int, void (*)(int)))(int);
int bsd_sigpause(int mask) __asm__("sigpause");
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
int raw_sigaction(int, const struct sigaction*, struct sigaction*) __asm__("__sigaction");
}

namespace {

using Handler = void (*)(int);

constexpr double kSpinSeconds = 0.05;  // some samples at the rate the test asks for

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

sigset_t block() {
  const sigset_t set = only_own();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  return before;
}

void unblock() {
  const sigset_t set = only_own();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void waits_for_its_timer() {
  const sigset_t set = only_own();
  block();
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = own;
  timer_t timer{};
  timer_create(CLOCK_MONOTONIC, &event, &timer);
  const itimerspec every{{0, 20'000'000}, {0, 20'000'000}};
  spin(kSpinSeconds);
  timer_settime(timer, 0, &every, nullptr);
  for (int i = 0; i < 3; ++i) {
    int found = 0;
    sigwait(&set, &found);
    std::printf("own %d\n", found == own);
  }
}

void queues() {
  const sigset_t set = only_own();
  block();
  for (int i = 0; i < 3; ++i) {
    sigval value{};
    value.sival_int = i;
    sigqueue(getpid(), own, value);
    spin(kSpinSeconds);
  }
  print_state("queued");
  const timespec now{};
  siginfo_t info{};
  while (sigtimedwait(&set, &info, &now) > 0) std::printf("value %d\n", info.si_value.sival_int);
  signal(own, count);
  for (int i = 0; i < 3; ++i) sigqueue(getpid(), own, sigval{});
  unblock();
  print_state("delivered");
}

// Values that equal the number of a descriptor, whoever opened it.
void values() {
  signal(own, count);
  int sent = 0;
  DIR* descriptors = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(descriptors)) {
    if (entry->d_name[0] == '.') continue;
    sigval value{};
    value.sival_int = std::atoi(entry->d_name);
    sigqueue(getpid(), own, value);
    ++sent;
  }
  spin(kSpinSeconds);
  std::printf("all received %d\n", handled == sent);
}

void reads_descriptor() {
  const sigset_t set = only_own();
  block();
  raise(own);
  const int file = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  signalfd_siginfo info{};
  for (const char* when : {"sent before", "sent after"}) {
    std::printf("%s: %zd", when, read(file, &info, sizeof info));
    std::printf(" own %d\n", info.ssi_signo == static_cast<unsigned>(own));
    spin(kSpinSeconds);
    kill(getpid(), own);
  }
}

void another_thread_waits() {
  block();
  kill(getpid(), own);
  spin(kSpinSeconds);
  std::thread([] {
    const sigset_t set = only_own();
    int found = 0;
    sigwait(&set, &found);
    std::printf("own %d\n", found == own);
  }).join();
  print_state("taken");
}

void a_waiting_thread_is_cancelled() {
  block();
  static std::atomic<long> waiting{0};
  pthread_t thread;
  pthread_create(
      &thread, nullptr,
      [](void*) -> void* {
        const sigset_t set = only_own();
        int found = 0;
        waiting = syscall(SYS_gettid);
        sigwait(&set, &found);
        return nullptr;
      },
      nullptr);
  char state = 0;
  while (state != 'S') {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/self/task/%ld/stat", waiting.load());
    if (FILE* file = waiting ? std::fopen(path, "r") : nullptr) {
      if (std::fscanf(file, "%*d %*s %c", &state) != 1) state = 0;
      std::fclose(file);
    }
  }
  pthread_cancel(thread);
  pthread_join(thread, nullptr);
  kill(getpid(), own);
  spin_and_print("sent");
  signal(own, count);
  unblock();
  print_state("unblocked");
}

void waits_with_masks() {
  signal(own, count);
  block();
  sigset_t none;
  sigemptyset(&none);
  const timespec soon{5, 0};
  const int set = epoll_create1(EPOLL_CLOEXEC);
  epoll_event event{};
  pollfd descriptor{-1, 0, 0};
  const auto check = [](const char* call, int result) {
    std::printf("%s %d %s\n", call, result, std::strerror(errno));
    spin_and_print(call);
    raise(own);
  };
  raise(own);
  check("sigsuspend", sigsuspend(&none));
  check("ppoll", ppoll(&descriptor, 1, &soon, &none));
  check("__ppoll_chk", __ppoll_chk(&descriptor, 1, &soon, &none, sizeof descriptor));
  check("pselect", pselect(0, nullptr, nullptr, nullptr, &soon, &none));
  check("epoll_pwait", epoll_pwait(set, &event, 1, 5000, &none));
  check("epoll_pwait2", epoll_pwait2(set, &event, 1, &soon, &none));
  const timespec now{};
  check("ppoll at once", ppoll(&descriptor, 0, &now, nullptr));
}

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
  execl("/proc/self/exe", "signal_calls", "shows", own == SIGTRAP ? "sigtrap" : "realtime", nullptr);
}

void executes_in_vfork_child() {
  signal(own, SIG_IGN);
  block();
  const pid_t child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", "signal_calls", "shows", own == SIGTRAP ? "sigtrap" : "realtime", nullptr);
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  spin_and_print("parent");
}

void spawns() {
  signal(own, SIG_IGN);
  block();
  raise(own);
  const char* const command[] = {"signal_calls", "shows", own == SIGTRAP ? "sigtrap" : "realtime", nullptr};
  for (auto* spawn : {posix_spawn, posix_spawnp}) {
    pid_t child = 0;
    spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char**>(command), environ);
    waitpid(child, nullptr, 0);
    spin_and_print("parent");
  }
}

}  // namespace

int main(int, char** argv) {
  const struct {
    const char* name;
    void (*body)();
  } cases[] = {{"old_handlers", old_handlers},
               {"old_masks", old_masks},
               {"bsd_masks", bsd_masks},
               {"swaps_in_place", swaps_in_place},
               {"waits_for_its_timer", waits_for_its_timer},
               {"queues", queues},
               {"values", values},
               {"reads_descriptor", reads_descriptor},
               {"another_thread_waits", another_thread_waits},
               {"a_waiting_thread_is_cancelled", a_waiting_thread_is_cancelled},
               {"waits_with_masks", waits_with_masks},
               {"a_vfork_child_resets_all", a_vfork_child_resets_all},
               {"forks_with_one_pending", forks_with_one_pending},
               {"forks_while_actions_change", forks_while_actions_change},
               {"jumps", jumps},
               {"switches_contexts", switches_contexts},
               {"threads_with_masks", threads_with_masks},
               {"raises_in_handler", raises_in_handler},
               {"shows", shows},
               {"executes", executes},
               {"spawns", spawns},
               {"executes_in_vfork_child", executes_in_vfork_child}};
  own = std::strcmp(argv[2], "realtime") == 0 ? SIGRTMAX - 1 : SIGTRAP;
  for (const auto& entry : cases) {
    if (std::strcmp(argv[1], entry.name) == 0) {
      entry.body();
      return 0;
    }
  }
  return 99;
}
