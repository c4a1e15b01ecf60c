// A program that uses a real-time signal: every thread blocks it, and one reads the queued values, while
// others begin and end: queued_signals WAY, with WAY sigwaitinfo, sigtimedwait or signalfd. Prints the sum of
// the received values, and ends with status 42.

#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr int kValues = 1000;
constexpr int kMaxQueued = 100;
constexpr int kEachThreads = 2;  // values per new thread

std::atomic<int> received{0};

int next_by_sigwaitinfo(const sigset_t& set) {
  siginfo_t info{};
  while (sigwaitinfo(&set, &info) < 0) continue;
  return info.si_code == SI_QUEUE ? info.si_value.sival_int : -1'000'000;
}

int next_by_sigtimedwait(const sigset_t& set) {
  siginfo_t info{};
  const timespec second{1, 0};
  while (sigtimedwait(&set, &info, &second) < 0) continue;
  return info.si_code == SI_QUEUE ? info.si_value.sival_int : -1'000'000;
}

int next_by_signalfd(int descriptor) {
  signalfd_siginfo info{};
  while (read(descriptor, &info, sizeof info) != sizeof info) continue;
  return info.ssi_code == SI_QUEUE ? info.ssi_int : -1'000'000;
}

}  // namespace

int main(int, char** arguments) {
  const std::string_view way = arguments[1];
  const int signal = SIGRTMAX - 1;
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int descriptor = way == "signalfd" ? signalfd(-1, &set, SFD_CLOEXEC) : -1;

  long sum = 0;
  std::thread reader([&] {
    for (int i = 0; i < kValues; ++i) {
      sum += way == "signalfd"      ? next_by_signalfd(descriptor)
             : way == "sigwaitinfo" ? next_by_sigwaitinfo(set)
                                    : next_by_sigtimedwait(set);
      received = i + 1;
    }
  });
  std::atomic<bool> ends{false};
  std::vector<std::thread> busy;
  for (int i = 0; i < 2; ++i)
    busy.emplace_back([&] {
      while (!ends) continue;
    });
  std::thread brief;
  for (int i = 0; i < kValues; ++i) {
    if (i % kEachThreads == 0) {
      if (brief.joinable()) brief.join();
      brief = std::thread([] {});
    }
    while (i - received > kMaxQueued) std::this_thread::yield();
    while (sigqueue(getpid(), signal, {.sival_int = i}) != 0) std::this_thread::yield();
  }
  brief.join();
  reader.join();
  ends = true;
  for (std::thread& thread : busy) thread.join();
  std::printf("sum %ld\n", sum);
  return 42;
}
