// interrupted_waits CASE: calls that wait until a signal of the program's own interrupts them, and calls that
// wait for one.

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include <atomic>
#include <thread>
#include <vector>

#include "waiting.h"

namespace {

// The program's own signal. Another thread sends it as soon as this one sleeps in the kernel.
std::atomic<int> handled{0};

void on_own(int) {
  ++handled;
}

void handle(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = on_own;
  action.sa_flags = flags;
  sigaction(signal, &action, nullptr);
}

long signalled(int signal, const std::function<long()>& call) {
  const pthread_t self = pthread_self();
  const auto tid = static_cast<int>(syscall(SYS_gettid));
  std::atomic<bool> waits{false};
  std::thread other([&] {
    while (!waits || state_of(tid) != 'S') sched_yield();
    pthread_kill(self, signal);
  });
  waits = true;
  const long result = call();
  const int error = errno;
  other.join();
  errno = error;
  return result;
}

constexpr timespec kLong{20, 0};

void interruptions(int signal) {
  handled = 0;
  handle(signal, 0);
  const auto interrupted = [&](const char* name, const std::function<long()>& call) {
    show(name, [&] { return signalled(signal, call); });
  };
  interrupted("nanosleep", [] {
    timespec left{};
    const long result = nanosleep(&kLong, &left);
    return left.tv_sec >= 18 ? result : 99;
  });
  interrupted("clock_nanosleep", [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kLong, nullptr); });
  interrupted("poll", [] { return poll(nullptr, 0, 20'000); });
  interrupted("select", [] {
    timeval time{20, 0};
    const long result = select(0, nullptr, nullptr, nullptr, &time);
    return time.tv_sec >= 18 ? result : 99;
  });
  sigset_t none;
  sigemptyset(&none);
  interrupted("ppoll with a mask", [&] { return ppoll(nullptr, 0, &kLong, &none); });
  interrupted("sigsuspend", [&] { return sigsuspend(&none); });
  interrupted("pause", [] { return pause(); });
  sigset_t others;
  sigemptyset(&others);
  sigaddset(&others, SIGUSR2);
  interrupted("sigtimedwait", [&] { return sigtimedwait(&others, nullptr, &kLong); });
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  interrupted("sem_timedwait", [&] {
    const timespec end = from_now(CLOCK_REALTIME, 20'000'000'000);
    return sem_timedwait(&semaphore, &end);
  });
  Sockets pair;
  const timeval longer{20, 0};
  setsockopt(pair.ends[0], SOL_SOCKET, SO_RCVTIMEO, &longer, sizeof longer);
  char byte;
  interrupted("recv", [&] { return recv(pair.ends[0], &byte, 1, 0); });
  Pipe pipe;
  interrupted("read", [&] { return read(pipe.ends[0], &byte, 1); });
  const std::vector<char> large(kLarge, 'x');
  show("write", [&] {
    const Pipe full;
    return signalled(signal, [&] { return write(full.ends[1], large.data(), kLarge); });
  });
  int word = 0;
  interrupted("futex", [&] { return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &kLong, nullptr, 0); });
  std::printf("handled %d\n", handled.load());
}

void restarts() {
  handle(SIGUSR1, SA_RESTART);
  Pipe pipe;
  char byte;
  show(
      "read",
      [&] {
        const int before = handled;
        return signalled(SIGUSR1, [&] {
          std::thread writer([&] {
            while (handled == before) usleep(100);
            (void)!write(pipe.ends[1], "x", 1);
          });
          const long result = read(pipe.ends[0], &byte, 1);
          writer.join();
          return result;
        });
      },
      0, 1);
  std::printf("handled %d\n", handled.load());
}

// A program that begins to handle signals that were unused so far.
void takes_signals() {
  for (const int signal : {SIGRTMAX - 1, SIGRTMAX - 2, SIGRTMAX - 3}) {
    std::printf("signal %d\n", signal);
    interruptions(signal);
  }
}

// If the scheduler interrupts a thread, its samples stay pending for a long time.
void takes_signals_while_threads_compute() {
  std::atomic<bool> ends{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 6; ++i)
    busy.emplace_back([&] {
      while (!ends.load(std::memory_order_relaxed)) {
      }
    });
  for (int signal = SIGRTMAX - 1; signal > SIGRTMIN + 5; --signal) {
    usleep(10'000);
    handle(signal, 0);
  }
  ends = true;
  for (std::thread& thread : busy) thread.join();
  std::printf("handled %d\n", handled.load());
}

void takes_all_signals() {
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) handle(signal, 0);
  handled = 0;
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal)
    if (signalled(signal, [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kLong, nullptr); }) != EINTR)
      std::printf("not interrupted by %d\n", signal);
  std::printf("handled %d\n", handled.load());
}

void waits_for_signals() {
  for (const int signal : {SIGRTMAX - 1, SIGRTMAX - 2}) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    show("sigwait", [&] {
      int found = 0;
      return signalled(signal, [&] { return sigwait(&set, &found); }) + found;
    });
  }
}

}  // namespace

int main(int, char** argv) {
  const std::string what = argv[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (what == "interruptions") {
    interruptions(SIGUSR1);
    restarts();
  } else if (what == "takes_signals") {
    takes_signals();
  } else if (what == "takes_signals_while_threads_compute") {
    takes_signals_while_threads_compute();
  } else if (what == "takes_all_signals") {
    takes_all_signals();
  } else if (what == "waits_for_signals") {
    waits_for_signals();
  }
}
