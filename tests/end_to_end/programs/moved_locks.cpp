// moved_locks HOW: mutexes whose lines the program itself reports as contended to the runtime, if it is
// loaded. Prints the result.
//   waits    a thread keeps a moved mutex while another one waits for it
//   table    the same for a read-write lock, for which readers and a writer wait
//   abba     two threads take two moved mutexes in opposite order; the main thread raises SIGTERM
//   late     moved mutexes are used as the process ends, by running threads and by the last exit handlers
//   forks    a child uses mutexes that its parent had moved, and moves others
//   plugin   a library is opened that takes the C library's functions first, also in a child
//   kinds    locks that cannot be moved

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "hpcrun/contention/contended_lines.h"

alignas(64) std::mutex queue_lock;
alignas(64) std::mutex first_lock, second_lock;
alignas(64) static pthread_mutex_t pool[8];
static long counts[8];

static void contend_for(const volatile void* at) {
  static auto* const lines = static_cast<hpcrun::ContendedLines*>(dlsym(RTLD_DEFAULT, kContendedLinesName));
  if (lines) lines->add(reinterpret_cast<uint64_t>(at));
}

static bool is_moved(const void* mutex) {
  return static_cast<const pthread_mutex_t*>(mutex)->__data.__list.__next != nullptr;
}

static void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

[[gnu::noinline]] static void keep() {
  queue_lock.lock();
  sleep_ms(10);
  queue_lock.unlock();
  asm volatile("");  // the release is called, not jumped to
}

[[gnu::noinline]] static void push() {
  queue_lock.lock();
  queue_lock.unlock();
}

static int waits() {
  contend_for(&queue_lock);
  push();
  const bool was_moved = is_moved(&queue_lock);
  bool ends = false;
  std::thread keeper([&] {
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) keep();
  });
  for (int i = 0; i < 20; ++i) push(), sleep_ms(1);
  __atomic_store_n(&ends, true, __ATOMIC_RELAXED);
  keeper.join();
  std::puts(was_moved ? "moved" : "not moved");
  return 0;
}

alignas(64) static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

[[gnu::noinline]] static void rewrite(long ms) {
  pthread_rwlock_wrlock(&table_lock);
  sleep_ms(ms);
  pthread_rwlock_unlock(&table_lock);
  asm volatile("");
}

[[gnu::noinline]] static void look_up() {
  pthread_rwlock_rdlock(&table_lock);
  pthread_rwlock_unlock(&table_lock);
  asm volatile("");
}

static int table() {
  contend_for(&table_lock);
  look_up();
  const bool was_moved_by_reader = is_moved(&table_lock);
  rewrite(0);
  const bool was_moved = is_moved(&table_lock);
  std::atomic<bool> ends{false};
  std::thread writer([&] {
    while (!ends) rewrite(10);
  });
  for (int i = 0; i < 20; ++i) look_up(), sleep_ms(1);
  ends = true;
  writer.join();
  std::puts(was_moved && !was_moved_by_reader ? "moved" : "not moved");
  return 0;
}

static sem_t has_lock, go_on;

static void take_both(std::mutex& one, std::mutex& other, const char* name) {
  pthread_setname_np(pthread_self(), name);
  one.lock();
  sem_post(&has_lock);
  sem_wait(&go_on);
  other.lock();
}

static int abba() {
  for (std::mutex* lock : {&first_lock, &second_lock}) contend_for(lock), lock->lock(), lock->unlock();
  std::puts(is_moved(&first_lock) && is_moved(&second_lock) ? "moved" : "not moved");
  std::fflush(stdout);
  std::thread([] { take_both(first_lock, second_lock, "forward"); }).detach();
  std::thread([] { take_both(second_lock, first_lock, "backward"); }).detach();
  for (int i = 0; i < 2; ++i) sem_wait(&has_lock);
  for (int i = 0; i < 2; ++i) sem_post(&go_on);
  sleep_ms(300);
  std::raise(SIGTERM);
  return 1;
}

static void count(unsigned turns) {
  for (unsigned i = 0; i < turns; ++i) {
    pthread_mutex_lock(&pool[i % 8]);
    ++counts[i % 8];
    pthread_mutex_unlock(&pool[i % 8]);
  }
}

static void contend_for_pool() {
  for (const pthread_mutex_t& mutex : pool) contend_for(&mutex);
}

static int late() {
  static std::atomic<bool> runs{false};
  contend_for_pool();
  // The handler that the C++ library runs last.
  std::atexit([] {
    count(80);
    std::puts("ended");
  });
  for (int i = 0; i < 2; ++i)
    std::thread([] {
      runs = true;
      for (;;) count(8);
    }).detach();
  while (!runs) sleep_ms(1);
  sleep_ms(20);
  return 0;
}

static int forks() {
  contend_for(&pool[0]);
  pthread_mutex_lock(&pool[0]);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    contend_for_pool();
    pthread_mutex_unlock(&pool[0]);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([] { count(8000); });
    for (std::thread& thread : threads) thread.join();
    long sum = 0;
    for (const long each : counts) sum += each;
    _exit(sum == 24000 ? 3 : 4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  pthread_mutex_unlock(&pool[0]);
  count(8);
  std::printf("%d %ld\n", WEXITSTATUS(status), counts[0]);
  return 0;
}

static int plugin() {
  contend_for_pool();
  count(1);
  void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND);
  count(8);
  std::printf("%d %d %d\n", library != nullptr, is_moved(&pool[0]), is_moved(&pool[1]));
  std::fflush(stdout);
  // The library is loaded in children as well.
  const pid_t child = fork();
  if (child == 0) {
    contend_for_pool();
    count(8);
    _exit(is_moved(&pool[2]) ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int kinds() {
  contend_for_pool();
  alignas(64) static pthread_spinlock_t spin;
  contend_for(const_cast<const int*>(&spin));
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  const auto make = [](pthread_mutex_t& mutex, auto set) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    set(&attributes);
    pthread_mutex_init(&mutex, &attributes);
  };
  make(pool[0], [](auto* of) { pthread_mutexattr_setrobust(of, PTHREAD_MUTEX_ROBUST); });
  make(pool[1], [](auto* of) { pthread_mutexattr_setprotocol(of, PTHREAD_PRIO_INHERIT); });
  make(pool[2], [](auto* of) { pthread_mutexattr_setpshared(of, PTHREAD_PROCESS_SHARED); });
  count(80);
  for (int i = 0; i < 3; ++i) pthread_spin_lock(&spin), pthread_spin_unlock(&spin);
  long sum = 0;
  for (const long each : counts) sum += each;
  std::printf("%ld\n", sum);
  return 0;
}

int main(int, char** argv) {
  static const struct {
    const char* name;
    int (*function)();
  } hows[] = {{"waits", waits}, {"table", table},   {"abba", abba},  {"late", late},
              {"forks", forks}, {"plugin", plugin}, {"kinds", kinds}};
  for (const auto& how : hows)
    if (std::strcmp(argv[1], how.name) == 0) return how.function();
  return 2;
}
