// Threads that lock, wait, signal, fault, and are converted and come home at random. `converted_thread_stress
// SECONDS SEED` exits with status 0 if no update and no signal was lost, and no process or mapping is left.

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include <atomic>
#include <random>
#include <utility>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/team.h"

namespace {

constexpr int kThreads = 6;
constexpr int kLocks = 7;

struct Counted {
  uint64_t value = 0;             // guarded by the lock
  std::atomic<uint64_t> adds{0};  // the expected value
};
Counted counted[kLocks];
pthread_mutex_t mutexes[4];
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
sem_t semaphore;
std::atomic<int> word{0};

pthread_mutex_t of_queue = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t queued = PTHREAD_COND_INITIALIZER;
uint64_t queue = 0, given = 0, taken = 0;

std::atomic<bool> over{false};
std::atomic<int> tids[kThreads];
std::atomic<uint64_t> sent{0}, received{0}, converted{0};
std::atomic<int> at_end{0};

thread_local sigjmp_buf before_fault;
volatile int* volatile nowhere = nullptr;

void lock(int which, std::mt19937& random) {
  if (which < 4) REQUIRE_THAT(pthread_mutex_lock(&mutexes[which]) == 0);
  if (which == 4) REQUIRE_THAT(pthread_rwlock_wrlock(&rwlock) == 0);
  if (which == 5)
    while (sem_wait(&semaphore) != 0) continue;
  if (which == 6)
    for (int free = 0; !word.compare_exchange_strong(free, 1); free = 0) word.wait(1);
  if (which == 4 && random() % 8 == 0) sched_yield();
}
void unlock(int which) {
  if (which < 4) REQUIRE_THAT(pthread_mutex_unlock(&mutexes[which]) == 0);
  if (which == 4) REQUIRE_THAT(pthread_rwlock_unlock(&rwlock) == 0);
  if (which == 5) sem_post(&semaphore);
  if (which == 6) {
    word = 0;
    word.notify_one();
  }
}

void add_under_lock(std::mt19937& random) {
  const int which = static_cast<int>(random() % kLocks);
  lock(which, random);
  counted[which].value = counted[which].value + 1;
  if (random() % 16 == 0) isolated_convert();
  if (random() % 16 == 0) isolated_give_back();
  unlock(which);
  ++counted[which].adds;
}

void put() {
  pthread_mutex_lock(&of_queue);
  ++queue;
  ++given;
  pthread_cond_signal(&queued);
  pthread_mutex_unlock(&of_queue);
}
void take() {
  pthread_mutex_lock(&of_queue);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 5'000'000;
  if (until.tv_nsec >= 1'000'000'000) until.tv_nsec -= 1'000'000'000, ++until.tv_sec;
  if (!queue) pthread_cond_timedwait(&queued, &of_queue, &until);
  if (queue) --queue, ++taken;
  pthread_mutex_unlock(&of_queue);
}

void fault() {
  if (!sigsetjmp(before_fault, 1)) *nowhere = 1;
}

void map_memory() {
  void* memory = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE_THAT(memory != MAP_FAILED);
  REQUIRE_THAT(munmap(memory, 8192) == 0);
}

void make_thread() {
  static std::atomic_flag taken_stack;
  alignas(4096) static char stack[kStackBytes];
  if (taken_stack.test_and_set()) return;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack, sizeof stack);
  pthread_t thread;
  const auto run = [](void*) -> void* {
    isolated_convert();
    put();
    return nullptr;
  };
  REQUIRE_THAT(pthread_create(&thread, &attributes, run, nullptr) == 0);
  pthread_attr_destroy(&attributes);
  isolated_convert();
  REQUIRE_THAT(pthread_join(thread, nullptr) == 0);
  taken_stack.clear();
}

void send(int self, std::mt19937& random, int signal) {
  const int tid = tids[random() % kThreads];
  if (!tid || self < 0) return;
  if (signal == SIGRTMIN + 1) ++sent;
  while (syscall(SYS_tgkill, getpid(), tid, signal) != 0) REQUIRE_THAT(errno == EAGAIN);
}

void run_child() {
  const pid_t child = vfork();
  if (child == 0) _exit(3);
  int status = 0;
  while (waitpid(child, &status, 0) != child) REQUIRE_THAT(errno == EINTR);
  REQUIRE_THAT(WEXITSTATUS(status) == 3);
}

void work(int self, unsigned seed) {
  std::mt19937 random(seed * 100 + static_cast<unsigned>(self));
  tids[self] = thread_id();
  while (!over) {
    const auto choice = random() % 200;
    if (choice < 20) {
      converted += isolated_convert();
    } else if (choice < 30) {
      isolated_give_back();
    } else if (choice < 35) {
      isolated_ask_back(tids[random() % kThreads]);
    } else if (choice < 40) {
      send(self, random, SIGRTMIN + 1);
    } else if (choice < 43) {
      send(self, random, SIGUSR2);
    } else if (choice < 60) {
      put();
    } else if (choice < 75) {
      take();
    } else if (choice < 78) {
      fault();
    } else if (choice < 80) {
      map_memory();
    } else if (choice == 80) {
      make_thread();
    } else if (choice == 81) {
      run_child();
    } else if (choice == 83) {
      const timespec time{0, 300'000};
      nanosleep(&time, nullptr);
    } else {
      add_under_lock(random);
    }
  }
  ++at_end;
  while (at_end != kThreads || received != sent) sched_yield();
}

int count_mappings() {
  FILE* maps = fopen("/proc/self/maps", "r");
  int lines = 0;
  for (int c; (c = fgetc(maps)) != EOF;) lines += c == '\n';
  fclose(maps);
  return lines;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const int seconds = atoi(arguments[1]);
  const auto seed = static_cast<unsigned>(atoi(arguments[2]));
  handle(SIGRTMIN + 1, [](int) { ++received; });
  handle(SIGUSR2, [](int) { isolated_convert(); });
  handle(SIGSEGV, [](int) { siglongjmp(before_fault, 1); });
  constexpr int kKinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ADAPTIVE_NP,
                            PTHREAD_MUTEX_NORMAL};
  for (int i = 0; i < 4; ++i) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kKinds[i]);
    if (i == 3) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutexes[i], &attributes);
  }
  sem_init(&semaphore, 0, 1);
  isolated_start();

  int mappings = 0;
  for (int turn = 0; turn < 2; ++turn) {  // the first one allocates permanently
    over = false;
    at_end = 0;
    Team team(kThreads, [seed, turn](int i) { work(i, seed + static_cast<unsigned>(turn)); });
    const timespec time{turn ? seconds : 0, turn ? 0 : 300'000'000};
    nanosleep(&time, nullptr);
    over = true;
    team.join();
    for (auto& tid : tids) tid = 0;
    if (!turn) mappings = count_mappings();
  }
  for (const Counted& each : counted) REQUIRE_THAT(each.value == each.adds);
  REQUIRE_THAT(given == queue + taken);
  REQUIRE_THAT(received == sent);
  REQUIRE_THAT(isolated_end());
  int status = 0;
  const pid_t left = waitpid(-1, &status, WNOHANG | 0x40000000);  // __WALL
  if (left != -1) dprintf(2, "left: %d, status %d\n", left, status);
  REQUIRE_THAT(left == -1 && errno == ECHILD);
  REQUIRE_THAT(count_mappings() <= mappings + 2 * kThreads);
  const IsolatedCounts counts = isolated_counts();
  uint64_t home = 0;
  for (const uint64_t reason : counts.given_back) home += reason;
  REQUIRE_THAT(counts.conversions == home && counts.leaving_hooks == home);
  uint64_t adds = 0;
  for (const Counted& each : counted) adds += each.adds;
  printf(
      "%lu conversions (%.0f us on average), %lu asked back, %lu for calls, %lu for faults; %lu updates, %lu "
      "signals\n",
      counts.conversions,
      static_cast<double>(counts.conversion_ns) / 1e3 / static_cast<double>(counts.conversions),
      counts.given_back[1], counts.given_back[2], counts.given_back[3], adds, received.load());
  return 0;
}
