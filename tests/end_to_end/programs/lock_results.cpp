// Prints the results of calls of locks and other waits in cases that differ from the plain one, each while
// another thread has the lock if that matters. The output must be the same with and without a profiler.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <shared_mutex>
#include <thread>

namespace {

void say(const char* what, int result) {
  std::printf("%s: %d\n", what, result);
}

timespec soon(clockid_t clock, long milliseconds) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += milliseconds * 1'000'000;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

pthread_mutex_t mutex_of(int type, int robust = PTHREAD_MUTEX_STALLED, int protocol = PTHREAD_PRIO_NONE) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  pthread_mutexattr_setrobust(&attributes, robust);
  pthread_mutexattr_setprotocol(&attributes, protocol);
  pthread_mutex_t mutex;
  pthread_mutex_init(&mutex, &attributes);
  return mutex;
}

// Calls `use` in this thread while another one has the lock for some time.
template <typename Lock, typename Unlock, typename Use>
void while_held(Lock lock, Unlock unlock, Use use) {
  std::atomic<bool> held{false};
  std::thread other([&] {
    lock();
    held = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    unlock();
  });
  while (!held) std::this_thread::yield();
  use();
  other.join();
}

void mutexes() {
  for (const int protocol : {PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT}) {
    pthread_mutex_t checked = mutex_of(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, protocol);
    say("not held, unlock", pthread_mutex_unlock(&checked));
    say("lock", pthread_mutex_lock(&checked));
    say("lock again", pthread_mutex_lock(&checked));
    say("unlock", pthread_mutex_unlock(&checked));
    while_held([&] { pthread_mutex_lock(&checked); }, [&] { pthread_mutex_unlock(&checked); },
               [&] {
                 const timespec until = soon(CLOCK_REALTIME, 5);
                 say("timed", pthread_mutex_timedlock(&checked, &until));
                 const timespec invalid{0, -1};
                 say("invalid time", pthread_mutex_timedlock(&checked, &invalid));
                 say("others' unlock", pthread_mutex_unlock(&checked));
                 say("wait", pthread_mutex_lock(&checked));
                 say("own unlock", pthread_mutex_unlock(&checked));
               });
  }
  pthread_mutex_t recursive = mutex_of(PTHREAD_MUTEX_RECURSIVE);
  say("recursive", pthread_mutex_lock(&recursive) + pthread_mutex_lock(&recursive));
  say("unlock", pthread_mutex_unlock(&recursive) + pthread_mutex_unlock(&recursive));
  const timespec now = soon(CLOCK_MONOTONIC, 5);
  say("other clock", pthread_mutex_clocklock(&recursive, CLOCK_PROCESS_CPUTIME_ID, &now));
  pthread_mutex_t robust = mutex_of(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
  std::thread([&] { pthread_mutex_lock(&robust); }).join();
  say("owner died", pthread_mutex_lock(&robust));
  say("unlock", pthread_mutex_unlock(&robust));
  say("not recoverable", pthread_mutex_lock(&robust));
}

void read_write_locks() {
  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  say("write", pthread_rwlock_wrlock(&lock));
  say("write again", pthread_rwlock_wrlock(&lock));
  say("read as writer", pthread_rwlock_rdlock(&lock));
  say("unlock", pthread_rwlock_unlock(&lock));
  while_held([&] { pthread_rwlock_rdlock(&lock); }, [&] { pthread_rwlock_unlock(&lock); },
             [&] {
               const timespec until = soon(CLOCK_REALTIME, 5);
               say("read beside a reader", pthread_rwlock_rdlock(&lock));
               say("unlock", pthread_rwlock_unlock(&lock));
               say("timed write", pthread_rwlock_timedwrlock(&lock, &until));
               const timespec invalid{0, 2'000'000'000};
               say("invalid time", pthread_rwlock_timedrdlock(&lock, &invalid));
               say("wait", pthread_rwlock_wrlock(&lock));
               say("unlock", pthread_rwlock_unlock(&lock));
             });
  std::shared_timed_mutex shared;
  while_held([&] { shared.lock(); }, [&] { shared.unlock(); },
             [&] {
               say("shared", shared.try_lock_shared_for(std::chrono::milliseconds(1)));
               shared.lock_shared();
               shared.unlock_shared();
             });
}

void other_waits() {
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  errno = 77;
  say("semaphore", sem_wait(&semaphore));
  say("errno", errno);
  const timespec until = soon(CLOCK_REALTIME, 5);
  say("timed", sem_timedwait(&semaphore, &until));
  say("errno", errno);
  sem_post(&semaphore);
  const timespec invalid{0, -1};
  say("invalid time", sem_timedwait(&semaphore, &invalid));
  say("errno", errno);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  const timespec later = soon(CLOCK_REALTIME, 5);
  say("condition", pthread_cond_timedwait(&condition, &mutex, &later));
  pthread_mutex_unlock(&mutex);
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 2);
  int there = 0;
  std::thread other([&] { there = pthread_barrier_wait(&barrier); });
  const int here = pthread_barrier_wait(&barrier);
  other.join();
  say("barrier", here + there);
  say("join oneself", pthread_join(pthread_self(), nullptr));
  mtx_t plain;
  mtx_init(&plain, mtx_timed);
  while_held([&] { mtx_lock(&plain); }, [&] { mtx_unlock(&plain); },
             [&] {
               const timespec never = soon(CLOCK_REALTIME, 5);
               say("C11 timed", mtx_timedlock(&plain, &never) == thrd_timedout);
               say("C11 wait", mtx_lock(&plain) == thrd_success);
               say("C11 unlock", mtx_unlock(&plain) == thrd_success);
             });
}

struct Cancelled {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  std::atomic<int> cleaned{0};
  bool free = false;
};

void* wait_to_be_cancelled(void* raw) {
  auto* const shared = static_cast<Cancelled*>(raw);
  pthread_mutex_lock(&shared->mutex);
  pthread_cleanup_push(
      [](void* at) {
        auto* const state = static_cast<Cancelled*>(at);
        ++state->cleaned;
        pthread_mutex_unlock(&state->mutex);
      },
      raw);
  for (;;) pthread_cond_wait(&shared->condition, &shared->mutex);
  pthread_cleanup_pop(0);
}

// A pending cancellation takes effect even if the semaphore is free.
void* have_semaphore(void* raw) {
  auto* const shared = static_cast<Cancelled*>(raw);
  pthread_cancel(pthread_self());
  sem_wait(&shared->semaphore);
  return nullptr;
}

void cancellation() {
  Cancelled shared;
  sem_init(&shared.semaphore, 0, 1);
  pthread_t thread;
  void* result = nullptr;
  pthread_create(&thread, nullptr, wait_to_be_cancelled, &shared);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pthread_cancel(thread);
  pthread_join(thread, &result);
  say("cancelled", result == PTHREAD_CANCELED);
  say("cleaned up", shared.cleaned);
  say("mutex is free", pthread_mutex_lock(&shared.mutex));
  pthread_create(&thread, nullptr, have_semaphore, &shared);
  pthread_join(thread, &result);
  say("cancelled", result == PTHREAD_CANCELED);
  int value = 0;
  sem_getvalue(&shared.semaphore, &value);
  say("value", value);
}

// The child has the lock, and the parent's waiters do not exist.
void forks() {
  static std::mutex lock;
  lock.lock();
  std::thread waiter([] { const std::lock_guard held(lock); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const pid_t child = fork();
  if (child == 0) {
    lock.unlock();
    int turns = 0;
    std::thread other([&] {
      for (int i = 0; i < 1000; ++i) {
        const std::lock_guard held(lock);
        ++turns;
      }
    });
    for (int i = 0; i < 1000; ++i) {
      const std::lock_guard held(lock);
      ++turns;
    }
    other.join();
    _exit(turns == 2000 ? 0 : 1);
  }
  lock.unlock();
  waiter.join();
  int status = -1;
  waitpid(child, &status, 0);
  say("child", status);
}

}  // namespace

int main() {
  mutexes();
  read_write_locks();
  other_waits();
  cancellation();
  std::fflush(stdout);
  forks();
}
