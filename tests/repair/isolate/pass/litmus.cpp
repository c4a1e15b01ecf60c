// Guarantees for atomic operations of threads with private pages. Compiled by `prof c++`, `litmus CASE` exits
// with status 0 if the guarantee holds in every round. Data, flags and locks lie on pages that are private in
// both converted threads; only the barrier between the rounds does not.
//
// Loops that wait give up after LITMUS_PATIENCE ms, because programs that are annotated incorrectly must
// fail.

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/pass/isolated_pages.h"
#include "tests/repair/isolate/team.h"

namespace {

constexpr int kRounds = 300;
constexpr size_t kPage = 4096;
uint64_t patience_ns = 60'000'000'000;

// On separate pages and lines. Data that is refreshed along with a neighbour would not reveal missing
// commits.
struct alignas(kPage) Shared {
  alignas(64) int data = 0;
  alignas(64) int other = 0;
  alignas(64) std::atomic<int> flag{0};
  alignas(64) volatile int old_flag = 0;
  alignas(64) std::atomic<int> x{0};
  alignas(64) std::atomic<int> y{0};
  alignas(64) std::atomic<uint16_t> word{0};
  alignas(64) int results[2] = {};
  alignas(64) char object[192] = {};
  alignas(kPage) long guarded = 0;
};
Shared shared;
struct alignas(kPage) {
  pthread_barrier_t it;
} barrier_page;
pthread_barrier_t& barrier = barrier_page.it;

template <class Condition>
void await(Condition condition) {
  uint64_t begin = 0;
  for (int turn = 1; !condition(); ++turn) {
    if (turn % 64) continue;
    isolated_pages_yield();
    if (!begin) begin = isolated_pages_now();
    REQUIRE_THAT(isolated_pages_now() - begin < patience_ns);
  }
}

// A barrier without a commit, so that all start at once.
void meet(int converted_threads) {
  await([mine = isolated_pages_meet(converted_threads, 0), converted_threads] {
    return isolated_pages_meet(converted_threads, mine) == 0;
  });
}

void take_pages() {
  REQUIRE_THAT(isolated_pages_take(&shared, sizeof shared));
  REQUIRE_THAT(isolated_pages_are_own(&shared) && isolated_pages_are_own(&shared.guarded));
}

// Runs both converted threads at once, round by round. Both have observed all stores of one round before the
// next begins.
template <class Round>
void in_rounds(Round round, int count = kRounds, int converted_threads = 2) {
  pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(converted_threads));
  Team team(converted_threads, [&](int converted) {
    take_pages();
    for (int r = 1; r <= count; ++r) {
      meet(converted_threads);
      round(converted, r);
      pthread_barrier_wait(&barrier);
    }
    REQUIRE_THAT(isolated_pages_are_own(&shared));
    isolated_pages_leave();
  });
  team.join();
}

// --- message passing

template <class Tell, class Hear>
void pass_messages(Tell tell, Hear hear) {
  in_rounds([&](int converted, int round) {
    if (converted == 0) {
      shared.data = round;
      shared.other = -round;
      tell(round);
    } else {
      await([&] { return hear(round); });
      REQUIRE_THAT(shared.data == round && shared.other == -round);
    }
  });
}

void message_release_acquire() {
  pass_messages([](int r) { shared.flag.store(r, std::memory_order_release); },
                [](int r) { return shared.flag.load(std::memory_order_acquire) == r; });
}
void message_consume() {
  pass_messages([](int r) { shared.flag.store(r, std::memory_order_release); },
                [](int r) { return shared.flag.load(std::memory_order_consume) == r; });
}
void message_seq_cst() {
  pass_messages([](int r) { shared.flag = r; }, [](int r) { return shared.flag == r; });
}
void message_fences() {
  pass_messages(
      [](int r) {
        std::atomic_thread_fence(std::memory_order_release);
        shared.flag.store(r, std::memory_order_relaxed);
      },
      [](int r) {
        const bool is_there = shared.flag.load(std::memory_order_relaxed) == r;
        std::atomic_thread_fence(std::memory_order_acquire);
        return is_there;
      });
}
void message_exchange() {
  pass_messages([](int r) { shared.flag.exchange(r, std::memory_order_acq_rel); },
                [](int r) { return shared.flag.fetch_add(0, std::memory_order_acq_rel) == r; });
}
void message_compare_exchange() {
  pass_messages(
      [](int r) {
        int before = r - 1;
        REQUIRE_THAT(shared.flag.compare_exchange_strong(before, r));
      },
      [](int r) {
        int expected = r;
        return shared.flag.compare_exchange_weak(expected, r, std::memory_order_acquire,
                                                 std::memory_order_relaxed);
      });
}
void message_volatile() {
  pass_messages([](int r) { shared.old_flag = r; }, [](int r) { return shared.old_flag == r; });
}
void message_assembly() {
  pass_messages(
      [](int r) {
        __asm__ volatile("movl %1, %0" : "=m"(shared.x) : "r"(r) : "memory");
      },
      [](int r) {
        int seen;
        __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(shared.x) : "memory");
        return seen == r;
      });
}
void message_builtins() {
  pass_messages([](int r) { __sync_lock_test_and_set(&shared.results[0], r), __sync_synchronize(); },
                [](int r) { return __sync_val_compare_and_swap(&shared.results[0], r, r) == r; });
}

// A relaxed flag guarantees nothing about data, but arrives, and nothing is committed for it.
void message_relaxed() {
  in_rounds([](int converted, int round) {
    const uint64_t before = isolated_pages_counts().commits;
    if (converted == 0) {
      shared.flag.store(round, std::memory_order_relaxed);
    } else {
      await([&] { return shared.flag.load(std::memory_order_relaxed) == round; });
    }
    REQUIRE_THAT(isolated_pages_counts().commits == before);
  });
}

// --- store buffering: one of the two threads observes the other's store

template <class Side>
void buffer_stores(Side side) {
  in_rounds([&](int converted, int) {
    shared.results[converted] = converted == 0 ? side(shared.x, shared.y) : side(shared.y, shared.x);
    pthread_barrier_wait(&barrier);
    REQUIRE_THAT(shared.results[0] || shared.results[1]);
    pthread_barrier_wait(&barrier);
    (converted == 0 ? shared.x : shared.y).store(0, std::memory_order_relaxed);
  });
}
void stores_seq_cst() {
  buffer_stores([](std::atomic<int>& mine, std::atomic<int>& others) {
    mine = 1;
    return others.load();
  });
}
void stores_fences() {
  buffer_stores([](std::atomic<int>& mine, std::atomic<int>& others) {
    mine.store(1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return others.load(std::memory_order_relaxed);
  });
}
void stores_assembly() {
  buffer_stores([](std::atomic<int>& mine, std::atomic<int>& others) {
    int seen;
    __asm__ volatile("movl $1, %1\n mfence\n movl %2, %0" : "=r"(seen), "=m"(mine) : "m"(others) : "memory");
    return seen;
  });
}

// --- coherence: each location has one order

// Reads of one location do not go backwards (coherence).
void coherence() {
  in_rounds([](int converted, int) {
    for (int i = 0, last = 0; i < 50; ++i) {
      if (converted == 0) {
        shared.x.fetch_add(1, std::memory_order_relaxed);
      } else {
        const int now = shared.x.load(std::memory_order_relaxed);
        REQUIRE_THAT(now >= last);
        last = now;
      }
    }
  });
  REQUIRE_THAT(shared.x == 50 * kRounds);
}

template <class Value>
void count_all() {
  alignas(kPage) static struct {
    Value counter;
    Value beside;
    char rest[kPage - 2 * sizeof(Value)];
  } all;
  constexpr int kTurns = 2'000;
  constexpr int kConvertedThreads = 3;
  Team team(kConvertedThreads, [&](int converted) {
    REQUIRE_THAT(isolated_pages_take(&all, sizeof all));
    meet(kConvertedThreads);
    for (int i = 0; i < kTurns; ++i) {
      __atomic_fetch_add(&all.counter, 1, __ATOMIC_RELAXED);
      if (converted == 0) all.beside = static_cast<Value>(i);  // in the same block
      Value seen = __atomic_load_n(&all.counter, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(&all.counter, &seen, static_cast<Value>(seen + 1), true,
                                          __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        continue;
    }
    REQUIRE_THAT(isolated_pages_are_own(&all));
    isolated_pages_leave();
  });
  team.join();
  REQUIRE_THAT(all.counter == static_cast<Value>(2 * kTurns * kConvertedThreads));
  REQUIRE_THAT(all.beside == static_cast<Value>(kTurns - 1));
}
void counters() {
  count_all<uint8_t>();
  count_all<uint16_t>();
  count_all<uint32_t>();
  count_all<uint64_t>();
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
  count_all<unsigned __int128>();
#endif
}

// An aligned value of two bytes is one of those that were stored (TMI, figure 3).
void figure_3() {
  in_rounds([](int converted, int) {
    shared.word.store(converted == 0 ? 0xab00 : 0x00cd, std::memory_order_relaxed);
    pthread_barrier_wait(&barrier);
    const uint16_t seen = shared.word.load(std::memory_order_relaxed);
    REQUIRE_THAT(seen == 0xab00 || seen == 0x00cd);
    pthread_barrier_wait(&barrier);
    shared.word.store(0, std::memory_order_relaxed);
  });
}
void figure_3_in_assembly() {
  alignas(kPage) static struct {
    uint16_t word;
    char rest[kPage - 2];
  } all;
  pthread_barrier_init(&barrier, nullptr, 2);
  Team team(2, [](int converted) {
    REQUIRE_THAT(isolated_pages_take(&all, sizeof all));
    for (int round = 0; round < kRounds; ++round) {
      meet(2);
      const uint16_t value = converted == 0 ? 0xab00 : 0x00cd;
      __asm__ volatile("movw %1, %0" : "=m"(all.word) : "r"(value));
      pthread_barrier_wait(&barrier);
      REQUIRE_THAT(all.word == 0xab00 || all.word == 0x00cd);
      pthread_barrier_wait(&barrier);
      if (converted == 0) all.word = 0;
      pthread_barrier_wait(&barrier);
    }
    isolated_pages_leave();
  });
}

// Elements that are swapped by assembly are all present at the end (TMI, figure 11, from canneal).
void figure_11() {
  constexpr int kElements = 3;
  constexpr long kCheckedOut = -1;
  alignas(kPage) static struct {
    long at[kElements] = {10, 20, 30};
    char rest[kPage - kElements * sizeof(long)];
  } all;
  const auto exchange = [](long& place, long before, long now) {
    __asm__ volatile("lock; cmpxchgq %2, %1" : "+a"(before), "+m"(place) : "r"(now) : "memory");
    return before;
  };
  const auto check_out = [&](int i) {
    long value = 0;
    await([&] {
      value = __atomic_load_n(&all.at[i], __ATOMIC_RELAXED);
      return value != kCheckedOut && exchange(all.at[i], value, kCheckedOut) == value;
    });
    return value;
  };
  Team team(2, [&](int converted) {
    REQUIRE_THAT(isolated_pages_take(&all, sizeof all));
    meet(2);
    for (int i = 0; i <= kRounds; ++i) {
      // In a fixed order, so that no deadlock is possible.
      const int one = (i + converted) % (kElements - 1), other = one + 1;
      const long first = check_out(one), second = check_out(other);
      __asm__ volatile("movq %2, %0\n movq %3, %1"
                       : "=m"(all.at[one]), "=m"(all.at[other])
                       : "r"(second), "r"(first));
    }
    isolated_pages_leave();
  });
  team.join();
  REQUIRE_THAT(all.at[0] + all.at[1] + all.at[2] == 60);
  for (const long element : {10, 20, 30})
    REQUIRE_THAT(all.at[0] == element || all.at[1] == element || all.at[2] == element);
}

// A thread that waits for a flag in a loop observes its change (TMI, figure 12, from cholesky).
void figure_12() {
  shared.old_flag = 1;
  in_rounds([](int converted, int) {
    if (converted == 0)
      await([] { return !shared.old_flag; });
    else
      shared.old_flag = 0;
    pthread_barrier_wait(&barrier);
    if (converted == 0) shared.old_flag = 1;
  });
}

// --- the program's own locks

template <class Lock, class Unlock>
void guard(Lock lock, Unlock unlock, int turns = 2'000) {
  in_rounds(
      [&](int, int) {
        for (int i = 0; i < turns; ++i) {
          await(lock);
          ++shared.guarded;
          shared.data = static_cast<int>(shared.guarded);
          unlock();
        }
      },
      1, 3);
  REQUIRE_THAT(shared.guarded == 3 * turns);
  REQUIRE_THAT(shared.data == 3 * turns);
}
void spin_lock() {
  guard([] { return shared.flag.exchange(1, std::memory_order_acquire) == 0; },
        [] { shared.flag.store(0, std::memory_order_release); });
}
void flag_lock() {
  alignas(kPage) static std::atomic_flag flag;
  guard([] { return !flag.test_and_set(std::memory_order_acquire); },
        [] { flag.clear(std::memory_order_release); });
}
void ticket_lock() {
  guard(
      [mine = -1]() mutable {
        if (mine < 0) mine = shared.x.fetch_add(1, std::memory_order_relaxed);
        return shared.y.load(std::memory_order_acquire) == mine;
      },
      [] { shared.y.store(shared.y.load(std::memory_order_relaxed) + 1, std::memory_order_release); });
}
void assembly_lock() {
  guard(
      [] {
        int taken = 1;
        __asm__ volatile("xchgl %0, %1" : "+r"(taken), "+m"(shared.flag) : : "memory");
        return taken == 0;
      },
      [] {
        __asm__ volatile("movl $0, %0" : "=m"(shared.flag) : : "memory");
      },
      100);
}

// Larger than the processor's atomics: a library's locks guard them.
void large_values() {
  struct Large {
    long one, two, three;
  };
  alignas(kPage) static std::atomic<Large> large{Large{0, 0, 0}};
  constexpr int kTurns = 300;
  Team team(2, [](int) {
    REQUIRE_THAT(isolated_pages_take(&large, sizeof large));
    meet(2);
    for (int i = 0; i < kTurns; ++i) {
      Large seen = large.load();
      while (!large.compare_exchange_weak(seen, Large{seen.one + 1, seen.two + 2, seen.three + 3})) continue;
    }
    isolated_pages_leave();
  });
  team.join();
  const Large all = large.load();
  REQUIRE_THAT(all.one == 2 * kTurns && all.two == 4 * kTurns && all.three == 6 * kTurns);
}

// --- plain and atomic accesses to one location

void mixed_accesses() {
  in_rounds([](int converted, int round) {
    int& own = converted == 0 ? shared.data : shared.other;
    own = 10 * round;  // plain, then atomic
    REQUIRE_THAT(__atomic_fetch_add(&own, 1, __ATOMIC_RELAXED) == 10 * round);
    REQUIRE_THAT(own == 10 * round + 1);
    __atomic_store_n(&own, 7, __ATOMIC_RELAXED);
    REQUIRE_THAT(own == 7);
    own = 8;
    REQUIRE_THAT(__atomic_load_n(&own, __ATOMIC_RELAXED) == 8);
    own = round;
    pthread_barrier_wait(&barrier);
    // A plain load returns the other thread's value after an atomic load has returned it.
    int& others = converted == 0 ? shared.other : shared.data;
    REQUIRE_THAT(others == round);
    pthread_barrier_wait(&barrier);
    __atomic_store_n(&own, -round, __ATOMIC_RELAXED);
    await([&] { return __atomic_load_n(&others, __ATOMIC_RELAXED) == -round; });
    REQUIRE_THAT(others == -round);
  });
}

// Gives out the one place.
template <class T>
struct InShared {
  using value_type = T;
  InShared() = default;
  template <class U>
  explicit(false) InShared(const InShared<U>&) {}
  T* allocate(size_t) {
    static_assert(sizeof(T) <= sizeof shared.object);
    return reinterpret_cast<T*>(shared.object);
  }
  void deallocate(T*, size_t) {}
};

void references_are_counted() {
  struct Object {
    explicit Object(int& place) : destroyed(place) {}
    ~Object() { ++destroyed; }
    int& destroyed;
  };
  int destroyed = 0;
  std::shared_ptr<Object> first = std::allocate_shared<Object>(InShared<Object>(), destroyed);
  in_rounds(
      [&](int, int) {
        std::shared_ptr<Object> mine[8];
        for (int i = 0; i < 500; ++i) mine[i % 8] = i % 3 ? first : mine[(i + 1) % 8];
      },
      4, 3);
  REQUIRE_THAT(first.use_count() == 1 && destroyed == 0);
  first.reset();
  REQUIRE_THAT(destroyed == 1);
}

// --- threads that come home and are converted anywhere

void asked_back_anywhere() {
  constexpr int kTurns = 20'000;
  static std::atomic<int> tids[3], done;
  Team team(3, [](int i) {
    tids[i] = thread_id();
    meet(3);
    for (int turn = 0; turn < kTurns; ++turn) {
      if (turn % 500 == 0) isolated_pages_take(&shared, sizeof shared);
      shared.x.fetch_add(1, turn % 2 ? std::memory_order_relaxed : std::memory_order_acq_rel);
    }
    ++done;
    isolated_pages_leave();
  });
  for (const auto& tid : tids)
    while (!tid) continue;
  while (done < 3) {
    for (const auto& tid : tids) isolated_ask_back(tid);
    isolated_pages_yield();
  }
  team.join();
  REQUIRE_THAT(shared.x == 3 * kTurns);
  printf("handlers found regions open %lu times\n", isolated_pages_counts().put_off);
}

void isolated_anywhere() {
  constexpr int kSignals = 30;
  static std::atomic<int> handled, counted;
  struct sigaction action {};
  action.sa_handler = [](int) {
    isolated_pages_take(&shared, sizeof shared);
    handled.fetch_add(1, std::memory_order_relaxed);
  };
  REQUIRE_THAT(sigaction(SIGUSR1, &action, nullptr) == 0);
  Team team(3, [](int) {
    int own = 0;
    for (; handled.load(std::memory_order_relaxed) < kSignals; ++own)
      shared.x.fetch_add(1, own % 2 ? std::memory_order_relaxed : std::memory_order_acq_rel);
    counted += own;
    isolated_pages_leave();
  });
  for (int sent = 0; sent < kSignals; ++sent) {
    pthread_kill(team.thread(sent % 3), SIGUSR1);
    while (handled.load(std::memory_order_relaxed) <= sent) isolated_pages_yield();
  }
  team.join();
  REQUIRE_THAT(shared.x == counted);
  printf("handlers found regions open %lu times\n", isolated_pages_counts().put_off);
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {
    {"message_release_acquire", message_release_acquire},
    {"message_consume", message_consume},
    {"message_seq_cst", message_seq_cst},
    {"message_fences", message_fences},
    {"message_exchange", message_exchange},
    {"message_compare_exchange", message_compare_exchange},
    {"message_volatile", message_volatile},
    {"message_assembly", message_assembly},
    {"message_builtins", message_builtins},
    {"message_relaxed", message_relaxed},
    {"stores_seq_cst", stores_seq_cst},
    {"stores_fences", stores_fences},
    {"stores_assembly", stores_assembly},
    {"coherence", coherence},
    {"counters", counters},
    {"figure_3", figure_3},
    {"figure_3_in_assembly", figure_3_in_assembly},
    {"figure_11", figure_11},
    {"figure_12", figure_12},
    {"spin_lock", spin_lock},
    {"flag_lock", flag_lock},
    {"ticket_lock", ticket_lock},
    {"assembly_lock", assembly_lock},
    {"large_values", large_values},
    {"mixed_accesses", mixed_accesses},
    {"references_are_counted", references_are_counted},
    {"asked_back_anywhere", asked_back_anywhere},
    {"isolated_anywhere", isolated_anywhere},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const Case& each : kCases) puts(each.name);
    return 0;
  }
  if (const char* patience = getenv("LITMUS_PATIENCE"))
    patience_ns = strtoull(patience, nullptr, 10) * 1'000'000;
  for (const Case& each : kCases) {
    if (strcmp(argv[1], each.name) != 0) continue;
    isolated_pages_start();
    each.run();
    return 0;
  }
  return 2;
}
