// Results of waiting for a signal of ours, queueing it, and reading it from a descriptor: signal_waits CASE
// SIGNAL.

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "own_signal.h"

extern "C" int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);

namespace {

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

// Values that equal the number of a descriptor, the program's or the runtime's.
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

}  // namespace

int main(int, char** argv) {
  return run_case(argv, {{"waits_for_its_timer", waits_for_its_timer},
                         {"queues", queues},
                         {"values", values},
                         {"reads_descriptor", reads_descriptor},
                         {"another_thread_waits", another_thread_waits},
                         {"a_waiting_thread_is_cancelled", a_waiting_thread_is_cancelled},
                         {"waits_with_masks", waits_with_masks}});
}
