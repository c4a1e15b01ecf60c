// Data with a checksum under every kind of lock, on pages that other threads write too, and data that threads
// pass to each other by conditions, pipes and atomic waits.

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <threads.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <semaphore>
#include <shared_mutex>

#include "soak.h"

namespace soak {

namespace {

// Data that a lock guards.
struct Guarded {
  volatile uint64_t value;
  volatile uint64_t copies[4];
  volatile uint64_t sum;
};

void check(const Guarded& data) {
  uint64_t sum = data.value;
  for (const volatile uint64_t& copy : data.copies) {
    SOAK_REQUIRE(copy == data.value);
    sum += copy;
  }
  SOAK_REQUIRE(data.sum == sum);
}

void add(Guarded& data) {
  check(data);
  data.value = data.value + 1;
  uint64_t sum = data.value;
  for (volatile uint64_t& copy : data.copies) {
    copy = data.value;
    sum += copy;
  }
  data.sum = sum;
}

enum Kind : int {
  Normal,
  Recursive,
  ErrorChecking,
  Adaptive,
  Inheriting,
  Robust,
  ReadWrite,
  PreferringWriters,
  Spin,
  Semaphore,
  OfC,
  Std,
  StdShared,
  StdSemaphore,
  Waited,
  Exchanged,
  kKinds,
};

struct alignas(kPage) {
  pthread_mutex_t mutexes[Robust + 1];
  pthread_rwlock_t read_write[2];
  pthread_spinlock_t spin;
  sem_t semaphore;
  mtx_t of_c;
  std::mutex std;
  std::shared_mutex std_shared;
  std::binary_semaphore std_semaphore{1};
  std::atomic<int> waited{0};
  std::atomic<int> exchanged{0};
} all;

alignas(kPage) Guarded in_variables[kKinds];
Guarded* in_heap = nullptr;  // the same number
// Per worker, adjacent. Not atomic: an atomic operation would commit what a release does not.
volatile uint64_t adds[kKinds][kWorkers];

int take_mutex(Worker& worker, pthread_mutex_t& mutex) {
  timespec until;
  switch (worker.below(4)) {
    case 0:
      for (int tries = 0; tries < 3; ++tries)
        if (pthread_mutex_trylock(&mutex) == 0) return 0;
      return EBUSY;
    case 1:
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_sec += 1;
      return pthread_mutex_timedlock(&mutex, &until);
    default:
      return pthread_mutex_lock(&mutex);
  }
}

// Returns false if the lock was not available.
bool lock(Worker& worker, Kind kind) {
  switch (kind) {
    case Recursive:
      if (take_mutex(worker, all.mutexes[kind]) != 0) return false;
      return pthread_mutex_lock(&all.mutexes[kind]) == 0;
    case ReadWrite:
    case PreferringWriters:
      return pthread_rwlock_wrlock(&all.read_write[kind - ReadWrite]) == 0;
    case Spin:
      return pthread_spin_lock(&all.spin) == 0;
    case Semaphore:
      while (sem_wait(&all.semaphore) != 0) SOAK_REQUIRE(errno == EINTR);
      return true;
    case OfC:
      return mtx_lock(&all.of_c) == thrd_success;
    case Std:
      all.std.lock();
      return true;
    case StdShared:
      all.std_shared.lock();
      return true;
    case StdSemaphore:
      all.std_semaphore.acquire();
      return true;
    case Waited:
      for (int free = 0; !all.waited.compare_exchange_strong(free, 1); free = 0) all.waited.wait(1);
      return true;
    case Exchanged:
      while (all.exchanged.exchange(1)) sched_yield();
      return true;
    default:
      return take_mutex(worker, all.mutexes[kind]) == 0;
  }
}

void unlock(Kind kind) {
  switch (kind) {
    case Recursive:
      SOAK_REQUIRE(pthread_mutex_unlock(&all.mutexes[kind]) == 0);
      SOAK_REQUIRE(pthread_mutex_unlock(&all.mutexes[kind]) == 0);
      break;
    case ReadWrite:
    case PreferringWriters:
      SOAK_REQUIRE(pthread_rwlock_unlock(&all.read_write[kind - ReadWrite]) == 0);
      break;
    case Spin:
      SOAK_REQUIRE(pthread_spin_unlock(&all.spin) == 0);
      break;
    case Semaphore:
      SOAK_REQUIRE(sem_post(&all.semaphore) == 0);
      break;
    case OfC:
      SOAK_REQUIRE(mtx_unlock(&all.of_c) == thrd_success);
      break;
    case Std:
      all.std.unlock();
      break;
    case StdShared:
      all.std_shared.unlock();
      break;
    case StdSemaphore:
      all.std_semaphore.release();
      break;
    case Waited:
      all.waited.exchange(0);
      all.waited.notify_one();
      break;
    case Exchanged:
      all.exchanged.exchange(0);
      break;
    default:
      SOAK_REQUIRE(pthread_mutex_unlock(&all.mutexes[kind]) == 0);
  }
}

void add_under_lock(Worker& worker) {
  const auto kind = static_cast<Kind>(worker.below(kKinds));
  if (!lock(worker, kind)) return;
  add(in_variables[kind]);
  if (worker.below(8) == 0 && kind != Spin) sched_yield();
  add(in_heap[kind]);
  unlock(kind);
  volatile uint64_t& own = adds[kind][worker.number];
  own = own + 1;
}

void read_under_lock(Worker& worker) {
  switch (worker.below(3)) {
    case 0: {
      const std::shared_lock guard(all.std_shared);
      check(in_variables[StdShared]);
      check(in_heap[StdShared]);
      break;
    }
    default: {
      const auto kind = static_cast<Kind>(ReadWrite + static_cast<int>(worker.below(2)));
      pthread_rwlock_t& of_kind = all.read_write[kind - ReadWrite];
      if (worker.below(2) == 0) {
        if (pthread_rwlock_tryrdlock(&of_kind) != 0) break;
      } else {
        SOAK_REQUIRE(pthread_rwlock_rdlock(&of_kind) == 0);
      }
      check(in_variables[kind]);
      check(in_heap[kind]);
      SOAK_REQUIRE(pthread_rwlock_unlock(&of_kind) == 0);
    }
  }
}

// Blocks that one thread allocates and another one checks and releases.
struct Message {
  uint64_t from;
  uint64_t number;
  uint64_t words[24];
};

struct alignas(kPage) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
} of_queue;
constexpr uint64_t kPlaces = 32;
struct {
  Message* places[kPlaces];
  uint64_t given, taken;
  uint64_t given_sum, taken_sum;
} queue;

Message* make_message(Worker& worker) {
  auto* const message = static_cast<Message*>(malloc(sizeof(Message)));
  message->from = static_cast<uint64_t>(worker.number);
  message->number = worker.random();
  for (uint64_t i = 0; i < 24; ++i) message->words[i] = message->number * i + message->from;
  return message;
}

uint64_t look_and_release(Message* message) {
  const uint64_t number = message->number;
  for (uint64_t i = 0; i < 24; ++i) SOAK_REQUIRE(message->words[i] == number * i + message->from);
  free(message);
  return number;
}

void give(Worker& worker) {
  Message* const message = make_message(worker);
  const uint64_t number = message->number;
  pthread_mutex_lock(&of_queue.mutex);
  const bool has_room = queue.given - queue.taken < kPlaces;
  if (has_room) {
    queue.places[queue.given++ % kPlaces] = message;
    queue.given_sum += number;
    pthread_cond_signal(&of_queue.filled);
  }
  pthread_mutex_unlock(&of_queue.mutex);
  if (!has_room) look_and_release(message);
}

void take(Worker&) {
  pthread_mutex_lock(&of_queue.mutex);
  if (queue.given == queue.taken) {
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 2'000'000;
    if (until.tv_nsec >= 1'000'000'000) until.tv_nsec -= 1'000'000'000, ++until.tv_sec;
    pthread_cond_timedwait(&of_queue.filled, &of_queue.mutex, &until);
  }
  if (queue.given != queue.taken) queue.taken_sum += look_and_release(queue.places[queue.taken++ % kPlaces]);
  pthread_mutex_unlock(&of_queue.mutex);
}

int ends[2];  // of a pipe for messages
std::atomic<uint64_t> sent_sum, got_sum;

void send(Worker& worker) {
  pollfd room{ends[1], POLLOUT, 0};
  if (poll(&room, 1, 0) != 1) return;
  Message* const message = make_message(worker);
  const uint64_t number = message->number;
  ssize_t written;
  while ((written = write(ends[1], &message, sizeof message)) < 0 && errno == EINTR) continue;
  if (written < 0) {
    SOAK_REQUIRE(errno == EAGAIN);
    look_and_release(message);
    return;
  }
  SOAK_REQUIRE(written == sizeof message);
  sent_sum.fetch_add(number);
}

void receive(Worker&) {
  pollfd news{ends[0], POLLIN, 0};
  if (poll(&news, 1, 1) != 1) return;
  Message* message = nullptr;
  const ssize_t got = read(ends[0], &message, sizeof message);
  if (got < 0) {
    SOAK_REQUIRE(errno == EAGAIN || errno == EINTR);
    return;
  }
  SOAK_REQUIRE(got == sizeof message);
  got_sum.fetch_add(look_and_release(message));
}

void begin() {
  constexpr int kTypes[] = {PTHREAD_MUTEX_NORMAL,      PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK,
                            PTHREAD_MUTEX_ADAPTIVE_NP, PTHREAD_MUTEX_NORMAL,    PTHREAD_MUTEX_NORMAL};
  for (int kind = Normal; kind <= Robust; ++kind) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kTypes[kind]);
    if (kind == Inheriting) pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    if (kind == Robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    SOAK_REQUIRE(pthread_mutex_init(&all.mutexes[kind], &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
  }
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlock_init(&all.read_write[0], &attributes);
  pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&all.read_write[1], &attributes);
  pthread_spin_init(&all.spin, PTHREAD_PROCESS_PRIVATE);
  sem_init(&all.semaphore, 0, 1);
  mtx_init(&all.of_c, mtx_plain);
  in_heap = static_cast<Guarded*>(calloc(kKinds, sizeof(Guarded)));
  SOAK_REQUIRE(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
}

void rest() {
  for (int kind = 0; kind < kKinds; ++kind) {
    check(in_variables[kind]);
    check(in_heap[kind]);
    uint64_t sum = 0;
    for (const volatile uint64_t& of_worker : adds[kind]) sum += of_worker;
    if (in_variables[kind].value != sum || in_heap[kind].value != sum)
      dprintf(2, "lock %d: %lu and %lu times, not %lu\n", kind, in_variables[kind].value, in_heap[kind].value,
              sum);
    SOAK_REQUIRE(in_variables[kind].value == sum && in_heap[kind].value == sum);
  }
  for (; queue.taken != queue.given; ++queue.taken)
    queue.taken_sum += look_and_release(queue.places[queue.taken % kPlaces]);
  SOAK_REQUIRE(queue.taken_sum == queue.given_sum);
  for (Message* message; read(ends[0], &message, sizeof message) == sizeof message;)
    got_sum += look_and_release(message);
  SOAK_REQUIRE(got_sum == sent_sum);
}

constexpr Action kActions[] = {{"add under a lock", 300, add_under_lock},
                               {"read under a lock", 80, read_under_lock},
                               {"give", 60, give},
                               {"take", 60, take},
                               {"send", 30, send},
                               {"receive", 30, receive}};

}  // namespace

const Part locks{kActions, begin, rest};

}  // namespace soak
