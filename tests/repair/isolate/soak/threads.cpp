// Threads that workers create: joined, detached, cancelled while they wait, and teams with barriers.

#include <errno.h>
#include <semaphore.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "soak.h"

namespace soak {

namespace {

// Each thread adds to a word next to those of others, and returns how much.
struct alignas(kPage) {
  volatile uint64_t words[kWorkers];
} of_children;
uint64_t joined[kWorkers];  // the expected values

thread_local volatile int own = 1;

void join_one(Worker& worker) {
  const int number = worker.number;
  volatile uint64_t& word = of_children.words[number];
  uint64_t on_stack = 5;
  std::thread child([&word, &on_stack] {
    SOAK_REQUIRE(own == 1);
    own = 2;
    for (int i = 0; i < 1'000; ++i) word = word + 1;
    on_stack += 2;
  });
  own = own == 1 ? 3 : 1;
  child.join();
  if (own == 3) own = 1;
  joined[number] += 1'000;
  SOAK_REQUIRE(on_stack == 7 && word == joined[number] && own == 1);
}

void exit_one(Worker& worker) {
  pthread_t thread;
  auto* const number = new uint64_t(worker.random());
  const uint64_t wanted = *number + 1;
  SOAK_REQUIRE(pthread_create(
                   &thread, nullptr,
                   [](void* argument) -> void* {
                     *static_cast<uint64_t*>(argument) += 1;
                     pthread_exit(argument);
                   },
                   number) == 0);
  void* result = nullptr;
  SOAK_REQUIRE(pthread_join(thread, &result) == 0 && result == number && *number == wanted);
  delete number;
}

struct alignas(kPage) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t gone = PTHREAD_COND_INITIALIZER;
} of_detached;
struct {
  uint64_t begun, ended, sum, wanted;
} detached;

void detach_one(Worker& worker) {
  auto* const number = new uint64_t(worker.random());
  pthread_mutex_lock(&of_detached.mutex);
  ++detached.begun;
  detached.wanted += *number;
  pthread_mutex_unlock(&of_detached.mutex);
  std::thread([number] {
    pthread_mutex_lock(&of_detached.mutex);
    ++detached.ended;
    detached.sum += *number;
    pthread_cond_signal(&of_detached.gone);
    pthread_mutex_unlock(&of_detached.mutex);
    delete number;
  }).detach();
}

// A point at which a thread waits for its cancellation. Its cleanup releases the mutex.
struct Cancelled {
  pthread_mutex_t mutex;
  pthread_cond_t never;
  sem_t is_there, is_posted_never;
  int ends[2];
  int where;
  volatile int cleaned;
};

void clean(void* raw) {
  auto& all = *static_cast<Cancelled*>(raw);
  all.cleaned = all.cleaned + 1;
  if (all.where == 0) pthread_mutex_unlock(&all.mutex);
}

void* wait_until_cancelled(void* raw) {
  block_own_signals();
  auto& all = *static_cast<Cancelled*>(raw);
  if (all.where == 0) pthread_mutex_lock(&all.mutex);
  pthread_cleanup_push(clean, raw);
  sem_post(&all.is_there);
  char byte;
  timespec long_time{1'000'000, 0};
  for (;;) switch (all.where) {
      case 0:
        pthread_cond_wait(&all.never, &all.mutex);
        break;
      case 1:
        sem_wait(&all.is_posted_never);
        break;
      case 2:
        if (read(all.ends[0], &byte, 1) == 1) abort();
        break;
      case 3:
        nanosleep(&long_time, nullptr);
        break;
      default:
        pause();
    }
  pthread_cleanup_pop(0);
  return nullptr;
}

void cancel_one(Worker& worker) {
  auto* const all = new Cancelled{};
  all->where = static_cast<int>(worker.below(5));
  pthread_mutex_init(&all->mutex, nullptr);
  pthread_cond_init(&all->never, nullptr);
  sem_init(&all->is_there, 0, 0);
  sem_init(&all->is_posted_never, 0, 0);
  SOAK_REQUIRE(pipe(all->ends) == 0);
  pthread_t thread;
  SOAK_REQUIRE(pthread_create(&thread, nullptr, wait_until_cancelled, all) == 0);
  while (sem_wait(&all->is_there) != 0) SOAK_REQUIRE(errno == EINTR);
  if (worker.below(2) == 0) usleep(static_cast<useconds_t>(worker.below(3'000)));
  SOAK_REQUIRE(pthread_cancel(thread) == 0);
  void* result = nullptr;
  SOAK_REQUIRE(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
  const int is_locked = pthread_mutex_trylock(&all->mutex);
  if (is_locked || all->cleaned != 1)
    dprintf(2, "cancelled at %d, cleaned up %d times, mutex: %d\n", all->where, all->cleaned, is_locked);
  SOAK_REQUIRE(all->cleaned == 1 && !is_locked);
  pthread_mutex_unlock(&all->mutex);
  SOAK_REQUIRE(close(all->ends[0]) == 0 && close(all->ends[1]) == 0);
  delete all;
}

// Each thread writes its column, and all read every column after the barrier.
void meet_at_barrier(Worker& worker) {
  constexpr int kTeam = 3, kTurns = 5;
  struct Team {
    pthread_barrier_t barrier;
    volatile uint64_t columns[kTeam];
    std::atomic<int> first{0};
  };
  auto* const team = new Team{};
  auto* const barrier = &team->barrier;
  pthread_barrier_init(barrier, nullptr, kTeam);
  const auto take_part = [team, barrier](int number) {
    for (uint64_t turn = 1; turn <= kTurns; ++turn) {
      team->columns[number] = turn * 10 + static_cast<uint64_t>(number);
      const int result = pthread_barrier_wait(barrier);
      SOAK_REQUIRE(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
      if (result) team->first.fetch_add(1);
      for (uint64_t other = 0; other < kTeam; ++other)
        SOAK_REQUIRE(team->columns[other] == turn * 10 + other);
      pthread_barrier_wait(barrier);
    }
  };
  std::thread others[] = {std::thread(take_part, 1), std::thread(take_part, 2)};
  take_part(0);
  for (std::thread& other : others) other.join();
  SOAK_REQUIRE(team->first == kTurns);
  pthread_barrier_destroy(barrier);
  delete team;
  worker.random();
}

void rest() {
  for (int number = 0; number < kWorkers; ++number) SOAK_REQUIRE(of_children.words[number] == joined[number]);
  pthread_mutex_lock(&of_detached.mutex);
  while (detached.ended != detached.begun) pthread_cond_wait(&of_detached.gone, &of_detached.mutex);
  SOAK_REQUIRE(detached.sum == detached.wanted);
  pthread_mutex_unlock(&of_detached.mutex);
}

constexpr Action kActions[] = {{"join", 6, join_one},
                               {"exit", 6, exit_one},
                               {"detach", 6, detach_one},
                               {"cancel", 6, cancel_one},
                               {"barrier", 5, meet_at_barrier}};

}  // namespace

const Part threads{kActions, [] {}, rest};

}  // namespace soak
