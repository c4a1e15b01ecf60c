// Signals to threads and to the process, masks, faults: each signal that is sent is handled once.

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>
#include <cstdint>

#include "soak.h"

namespace soak {

namespace {

// Queued, so that none is merged with another.
const int kToThread = SIGRTMIN + 3, kToProcess = SIGRTMIN + 4;
std::atomic<uint64_t> sent, received, sent_sum, received_sum;

void on_signal(int, siginfo_t* info, void*) {
  const int error = errno;
  received_sum.fetch_add(static_cast<uint64_t>(info->si_value.sival_int));
  received.fetch_add(1);
  errno = error;
}

thread_local sigjmp_buf before_fault;
thread_local char* volatile faults_at = nullptr;

void on_fault(int signal, siginfo_t* info, void*) {
  if (info->si_addr == faults_at && faults_at) siglongjmp(before_fault, 1);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  sigaction(signal, &by_default, nullptr);  // and once more
}

void send(Worker& worker) {
  const auto number = static_cast<int>(worker.below(1'000));
  const bool to_thread = worker.below(3) > 0;
  const int other = static_cast<int>(worker.below(kWorkers));
  sent.fetch_add(1);
  sent_sum.fetch_add(static_cast<uint64_t>(number));
  const auto try_once = [&] {
    sigval value{};
    value.sival_int = number;
    if (to_thread) return pthread_sigqueue(worker_thread(other), kToThread, value);
    return sigqueue(getpid(), kToProcess, value) == 0 ? 0 : errno;
  };
  for (int error; (error = try_once()) != 0; sched_yield()) SOAK_REQUIRE(error == EAGAIN);
}

void block_and_take(Worker& worker) {
  sigset_t some, before;
  sigemptyset(&some);
  sigaddset(&some, kToThread);
  sigaddset(&some, SIGUSR2);
  SOAK_REQUIRE(pthread_sigmask(SIG_BLOCK, &some, &before) == 0 && sigisemptyset(&before));
  send(worker);
  SOAK_REQUIRE(pthread_kill(pthread_self(), SIGUSR2) == 0);
  sigset_t pending;
  sigpending(&pending);
  SOAK_REQUIRE(sigismember(&pending, SIGUSR2));
  sigset_t other;
  sigemptyset(&other);
  sigaddset(&other, SIGUSR2);
  int taken = 0;
  SOAK_REQUIRE(sigwait(&other, &taken) == 0 && taken == SIGUSR2);
  SOAK_REQUIRE(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
}

void fault(Worker&) {
  auto* const at = static_cast<char*>(mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  SOAK_REQUIRE(at != MAP_FAILED);
  volatile int faults = 0;
  if (!sigsetjmp(before_fault, 1)) {
    faults_at = at;
    *static_cast<volatile char*>(at) = 1;
  } else {
    faults = faults + 1;
  }
  faults_at = nullptr;
  SOAK_REQUIRE(faults == 1 && *static_cast<volatile char*>(at) == 0);
  SOAK_REQUIRE(munmap(at, kPage) == 0);
}

void sleep_a_moment(Worker& worker) {
  timespec time{0, static_cast<long>(worker.below(2'000'000))};
  while (nanosleep(&time, &time) != 0) SOAK_REQUIRE(errno == EINTR);
}

void begin() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  action.sa_sigaction = on_signal;
  for (const int signal : {kToThread, kToProcess}) SOAK_REQUIRE(sigaction(signal, &action, nullptr) == 0);
  action.sa_sigaction = on_fault;
  SOAK_REQUIRE(sigaction(SIGSEGV, &action, nullptr) == 0);
}

void rest() {
  SOAK_REQUIRE(received == sent && received_sum == sent_sum);
}

constexpr Action kActions[] = {{"send a signal", 30, send},
                               {"block signals", 10, block_and_take},
                               {"fault", 6, fault},
                               {"sleep", 10, sleep_a_moment}};

}  // namespace

void block_own_signals() {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, kToThread);
  sigaddset(&own, kToProcess);
  SOAK_REQUIRE(pthread_sigmask(SIG_BLOCK, &own, nullptr) == 0);
}

void await_own_signals() {
  constexpr int kMaxTries = 20'000;  // times 1 ms
  for (int tries = 0; received != sent; ++tries) {
    if (tries == kMaxTries) {
      dprintf(2, "%lu signals sent, %lu received; sums %lu, %lu\n", sent.load(), received.load(),
              sent_sum.load(), received_sum.load());
      print_signals();
    }
    SOAK_REQUIRE(tries < kMaxTries);
    usleep(1'000);
  }
}

const Part signals{kActions, begin, rest};

}  // namespace soak
