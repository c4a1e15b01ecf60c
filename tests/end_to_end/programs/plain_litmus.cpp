// Threads publish data in code that is not annotated, next to falsely shared data. plain_litmus CASE
// MILLISECONDS [apart] prints the number of rounds, and in how many of them a result was observed that C++
// does not allow. The flags are on the page of the data, or on a separate one.

#include <pthread.h>
#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kSeqCst = std::memory_order_seq_cst;
constexpr size_t kPage = 4096;

// The flags and messages of the threads.
struct Words {
  alignas(64) std::atomic<uint64_t> flag[2];
  alignas(64) volatile uint64_t old_flag[2];
  alignas(64) std::atomic<uint16_t> word;
  alignas(64) std::atomic<int> lock;
  alignas(64) std::atomic<unsigned> next_ticket, served;
  alignas(64) std::atomic<long> elements[3];
};

// Lines of one page. The first one causes its isolation.
struct alignas(kPage) {
  volatile uint64_t hot[2];
  alignas(64) uint64_t data[2];
  alignas(64) uint64_t guarded;
  Words words;
} shared;
alignas(kPage) Words apart;
alignas(kPage) Words* words = &shared.words;

alignas(kPage) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
alignas(kPage) sem_t semaphore;
alignas(kPage) pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
alignas(kPage) std::atomic<bool> is_over;
alignas(kPage) pthread_barrier_t barrier;
alignas(kPage) uint64_t rounds[2];
alignas(kPage) uint64_t wrong[2];
uint64_t seen[2];

using Clock = std::chrono::steady_clock;
Clock::time_point end;

void work(int self) {
  for (int i = 0; i < 3'000; ++i) shared.hot[self] = shared.hot[self] + 1;
}

// Returns false if the time is over, and the other thread may have ended.
template <class Condition>
bool await(int self, Condition condition) {
  while (!condition()) {
    work(self);
    if (Clock::now() > end) return false;
  }
  return true;
}

// Each thread sends and receives alternately.
template <class Tell, class Hear>
void pass_messages(int self, Tell tell, Hear hear) {
  for (uint64_t round = 1;; ++round) {
    work(self);
    shared.data[self] = round;
    tell(words->flag[self], words->old_flag[self], round);
    const int other = 1 - self;
    if (!await(self, [&] { return hear(words->flag[other], words->old_flag[other]) >= round; })) return;
    wrong[self] += shared.data[other] < round;
    ++rounds[self];
  }
}

using Flag = std::atomic<uint64_t>;
using OldFlag = volatile uint64_t;

template <std::memory_order store, std::memory_order load>
void message(int self) {
  pass_messages(
      self, [](Flag& flag, OldFlag&, uint64_t round) { flag.store(round, store); },
      [](Flag& flag, OldFlag&) { return flag.load(load); });
}
// Nothing is guaranteed about data: only the flag arrives.
void message_relaxed(int self) {
  for (uint64_t round = 1;; ++round) {
    work(self);
    words->flag[self].store(round, kRelaxed);
    if (!await(self, [&] { return words->flag[1 - self].load(kRelaxed) >= round; })) return;
    ++rounds[self];
  }
}
template <std::memory_order release, std::memory_order acquire>
void message_fences(int self) {
  pass_messages(
      self,
      [](Flag& flag, OldFlag&, uint64_t round) {
        std::atomic_thread_fence(release);
        flag.store(round, kRelaxed);
      },
      [](Flag& flag, OldFlag&) {
        const uint64_t now = flag.load(kRelaxed);
        std::atomic_thread_fence(acquire);
        return now;
      });
}
void message_exchange(int self) {
  pass_messages(
      self, [](Flag& flag, OldFlag&, uint64_t round) { flag.exchange(round, std::memory_order_acq_rel); },
      [](Flag& flag, OldFlag&) { return flag.fetch_add(0, std::memory_order_acq_rel); });
}
// A thread that waits for a flag in a loop observes its change (TMI, figure 12), and what was written before.
void spin_flag(int self) {
  pass_messages(
      self, [](Flag&, OldFlag& flag, uint64_t round) { flag = round; },
      [](Flag&, OldFlag& flag) { return flag; });
}

// Rounds that both threads begin together, and end before either checks.
template <class Side, class Look>
void in_rounds(int self, Side side, Look look) {
  for (bool is_last = false; !is_last; ++rounds[self]) {
    work(self);
    pthread_barrier_wait(&barrier);
    side();
    work(self);
    pthread_barrier_wait(&barrier);
    if (self == 0) {
      look();
      if (Clock::now() > end) is_over = true;
    }
    pthread_barrier_wait(&barrier);
    is_last = is_over;
  }
}

// One of both observes the other's store, except with weaker orders.
template <std::memory_order store, std::memory_order load, bool fence>
void stores(int self) {
  uint64_t round = 0;
  in_rounds(
      self,
      [&] {
        words->flag[self].store(++round, store);
        if (fence) std::atomic_thread_fence(kSeqCst);
        seen[self] = words->flag[1 - self].load(load);
      },
      [&] {
        const bool is_ordered = fence || (store == kSeqCst && load == kSeqCst);
        wrong[0] += is_ordered && seen[0] != round && seen[1] != round;
      });
}

// An aligned value is one of those that were stored.
void figure_3(int self) {
  in_rounds(
      self, [&] { words->word.store(self ? 0x00cd : 0xab00, kRelaxed); },
      [] {
        const uint16_t now = words->word.load(kRelaxed);
        wrong[0] += now != 0x00cd && now != 0xab00;
      });
}

long check_out(int self, std::atomic<long>& element) {
  constexpr long kCheckedOut = -1;
  long value = kCheckedOut;
  const bool is_had = await(self, [&] {
    value = element.load(kRelaxed);
    return value != kCheckedOut && element.compare_exchange_strong(value, kCheckedOut, kRelaxed);
  });
  return is_had ? value : kCheckedOut;
}

// Elements that are swapped are all present at the end. Each is taken by an atomic instruction, and returned
// by a plain store.
void figure_11(int self) {
  for (uint64_t round = 0; Clock::now() < end; ++round, ++rounds[self]) {
    work(self);
    std::atomic<long>&one = words->elements[round % 2], &other = words->elements[round % 2 + 1];
    const long first = check_out(self, one);
    if (first < 0) return;
    const long second = check_out(self, other);
    if (second < 0) return one.store(first, kRelaxed);
    one.store(second, kRelaxed);
    other.store(first, kRelaxed);
  }
}
void look_at_elements() {
  long sum = 0, product = 1;
  for (const auto& element : words->elements) sum += element, product *= element;
  wrong[0] += sum != 60 || product != 6'000;
}

template <class Lock, class Unlock>
void guard(int self, Lock lock, Unlock unlock) {
  while (Clock::now() < end) {
    work(self);
    if (!lock()) return;
    shared.guarded = shared.guarded + 1;
    unlock();
    ++rounds[self];
  }
}
void look_at_guarded() {
  wrong[0] += shared.guarded != rounds[0] + rounds[1];
}
void mutex_guards(int self) {
  guard(
      self, [] { return pthread_mutex_lock(&mutex) == 0; }, [] { pthread_mutex_unlock(&mutex); });
}
void semaphore_guards(int self) {
  guard(
      self, [] { return sem_wait(&semaphore) == 0; }, [] { sem_post(&semaphore); });
}
void read_write_lock(int self) {
  guard(
      self, [] { return pthread_rwlock_wrlock(&rwlock) == 0; }, [] { pthread_rwlock_unlock(&rwlock); });
}
// After the barrier all threads observe what each wrote before it.
void barrier_tells(int self) {
  uint64_t round = 0;
  in_rounds(
      self, [&] { shared.data[self] = ++round; }, [] { wrong[0] += shared.data[0] != shared.data[1]; });
}
void spin_lock(int self) {
  guard(
      self, [self] { return await(self, [] { return words->lock.exchange(1, kAcquire) == 0; }); },
      [] { words->lock.store(0, kRelease); });
}
void ticket_lock(int self) {
  guard(
      self,
      [] {
        const unsigned mine = words->next_ticket.fetch_add(1, kRelaxed);
        while (words->served.load(kAcquire) != mine) continue;
        return true;
      },
      [] { words->served.store(words->served.load(kRelaxed) + 1, kRelease); });
}

void nothing() {}

struct Case {
  const char* name;
  void (*part)(int self);
  void (*look)() = nothing;
};
constexpr Case kCases[] = {
    {"message_relaxed", message_relaxed},
    {"message_release_acquire", message<kRelease, kAcquire>},
    {"message_consume", message<kRelease, std::memory_order_consume>},
    {"message_seq_cst", message<kSeqCst, kSeqCst>},
    {"message_fences", message_fences<kRelease, kAcquire>},
    {"message_full_fences", message_fences<kSeqCst, kSeqCst>},
    {"message_exchange", message_exchange},
    {"spin_flag", spin_flag},
    {"stores_relaxed", stores<kRelaxed, kRelaxed, false>},
    {"stores_release_acquire", stores<kRelease, kAcquire, false>},
    {"stores_seq_cst", stores<kSeqCst, kSeqCst, false>},
    {"stores_fences", stores<kRelaxed, kRelaxed, true>},
    {"figure_3", figure_3},
    {"figure_11", figure_11, look_at_elements},
    {"mutex", mutex_guards, look_at_guarded},
    {"semaphore", semaphore_guards, look_at_guarded},
    {"read_write_lock", read_write_lock, look_at_guarded},
    {"barrier", barrier_tells},
    {"spin_lock", spin_lock, look_at_guarded},
    {"ticket_lock", ticket_lock, look_at_guarded},
};

void run(const Case& chosen, int milliseconds) {
  pthread_barrier_init(&barrier, nullptr, 2);
  sem_init(&semaphore, 0, 1);
  for (int i = 0; i < 3; ++i) words->elements[i] = 10 * (i + 1);
  end = Clock::now() + std::chrono::milliseconds(milliseconds);
  std::thread other([&] { chosen.part(1); });
  chosen.part(0);
  other.join();
  chosen.look();
  printf("%lu rounds, %lu wrong\n", rounds[0], wrong[0] + wrong[1]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) words = &apart;
  if (argc < 3) {
    for (const Case& each : kCases) puts(each.name);
    return 0;
  }
  for (const Case& each : kCases)
    if (strcmp(argv[1], each.name) == 0) {
      run(each, atoi(argv[2]));
      return 0;
    }
  return 2;
}
