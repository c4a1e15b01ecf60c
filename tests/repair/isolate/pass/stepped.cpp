// Guarantees at any place where a thread is interrupted, commits, comes home or is converted. `stepped CASE`
// runs one of two converted threads instruction by instruction (stepping.h). It tries every place for the
// other thread's part, together with every place for a commit of its own. Data, flags and locks lie on a page
// that is private in both. Compiled by `prof c++`; exits with status 0 if all outcomes are allowed by C++.

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include <atomic>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/pass/isolated_pages.h"
#include "tests/repair/isolate/pass/stepping.h"
#include "tests/repair/isolate/team.h"

namespace {

constexpr size_t kPage = 4096;

// On separate lines. Data that is refreshed along with a neighbour would not reveal missing commits.
struct alignas(kPage) Shared {
  alignas(64) int data = 0;
  alignas(64) int other = 0;
  alignas(64) std::atomic<int> flag{0};
  alignas(64) volatile int old_flag = 0;
  alignas(64) std::atomic<int> x{0};
  alignas(64) std::atomic<int> y{0};
  alignas(64) std::atomic<uint16_t> word{0};
  alignas(64) long elements[3] = {10, 20, 30};
  alignas(64) long guarded = 0;
};
Shared shared;

// Common to both: the number of the run, and its results.
struct alignas(kPage) {
  int run = 0;
  int heard, data, other;  // of a message
  int seen[2];             // of a store
  long successes;          // of both threads, in all runs
  void (*second)();
} results;

struct alignas(kPage) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
  pthread_spinlock_t spin;
  sem_t semaphore;
} locks;

// A case. Neither thread waits for the other.
struct Kernel {
  const char* name;
  void (*first)();
  void (*second)();
  bool (*is_right)();
};

// A thread that receives the message reads what was written before it was sent.
template <class Tell, class Hear>
Kernel message(const char* name, Tell, Hear) {
  return {name,
          [] {
            shared.data = results.run;
            shared.other = -results.run;
            Tell{}(results.run);
          },
          [] {
            results.heard = Hear{}(results.run);
            results.data = shared.data;
            results.other = shared.other;
          },
          [] { return !results.heard || (results.data == results.run && results.other == -results.run); }};
}

// One of the two threads observes the other's store.
template <class Side>
Kernel stores(const char* name, Side) {
  return {name, [] { results.seen[0] = Side{}(shared.x, shared.y, results.run); },
          [] { results.seen[1] = Side{}(shared.y, shared.x, results.run); },
          [] { return results.seen[0] == results.run || results.seen[1] == results.run; }};
}

// A thread that gets the lock has it alone, and observes what was written under it.
template <class TryLock, class Unlock>
Kernel lock(const char* name, TryLock, Unlock) {
  constexpr auto kSide = [] {
    if (!TryLock{}()) return;
    shared.guarded = shared.guarded + 1;
    shared.data = static_cast<int>(shared.guarded);
    results.successes += 1;
    Unlock{}();
  };
  return {name, kSide, kSide, [] {
            return shared.guarded == results.successes && shared.data == static_cast<int>(results.successes);
          }};
}

long exchange(long& place, long before, long now) {
  __asm__ volatile("lock; cmpxchgq %2, %1" : "+a"(before), "+m"(place) : "r"(now) : "memory");
  return before;
}

// Swaps two neighbours if both are available (TMI, figure 11).
void swap_from(int one) {
  constexpr long kCheckedOut = -1;
  long first = __atomic_load_n(&shared.elements[one], __ATOMIC_RELAXED);
  if (first == kCheckedOut || exchange(shared.elements[one], first, kCheckedOut) != first) return;
  long second = __atomic_load_n(&shared.elements[one + 1], __ATOMIC_RELAXED);
  if (second == kCheckedOut || exchange(shared.elements[one + 1], second, kCheckedOut) != second) {
    __asm__ volatile("movq %1, %0" : "=m"(shared.elements[one]) : "r"(first));
    return;
  }
  __asm__ volatile("movq %2, %0\n movq %3, %1"
                   : "=m"(shared.elements[one]), "=m"(shared.elements[one + 1])
                   : "r"(second), "r"(first));
}

using Atomic = std::atomic<int>;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelaxed = std::memory_order_relaxed;

const Kernel kKernels[] = {
    message(
        "message_release_acquire", [](int r) { shared.flag.store(r, kRelease); },
        [](int r) { return shared.flag.load(kAcquire) == r; }),
    message(
        "message_consume", [](int r) { shared.flag.store(r, kRelease); },
        [](int r) { return shared.flag.load(std::memory_order_consume) == r; }),
    message(
        "message_seq_cst", [](int r) { shared.flag = r; }, [](int r) { return shared.flag == r; }),
    message(
        "message_fences",
        [](int r) {
          std::atomic_thread_fence(kRelease);
          shared.flag.store(r, kRelaxed);
        },
        [](int r) {
          const bool is_there = shared.flag.load(kRelaxed) == r;
          std::atomic_thread_fence(kAcquire);
          return is_there;
        }),
    message(
        "message_exchange", [](int r) { shared.flag.exchange(r, std::memory_order_acq_rel); },
        [](int r) { return shared.flag.fetch_add(0, std::memory_order_acq_rel) == r; }),
    message(
        "message_volatile", [](int r) { shared.old_flag = r; }, [](int r) { return shared.old_flag == r; }),
    message(
        "message_assembly",
        [](int r) {
          __asm__ volatile("movl %1, %0" : "=m"(shared.x) : "r"(r) : "memory");
        },
        [](int r) {
          int seen;
          __asm__ volatile("movl %1, %0" : "=r"(seen) : "m"(shared.x) : "memory");
          return seen == r;
        }),
    stores("stores_seq_cst",
           [](Atomic& mine, Atomic& others, int r) {
             mine = r;
             return others.load();
           }),
    stores("stores_fences",
           [](Atomic& mine, Atomic& others, int r) {
             mine.store(r, kRelaxed);
             std::atomic_thread_fence(std::memory_order_seq_cst);
             return others.load(kRelaxed);
           }),
    {"counter", [] { shared.x.fetch_add(1, kRelaxed); }, [] { shared.x.fetch_add(1, kRelaxed); },
     [] { return shared.x.load(kRelaxed) == 2 * results.run; }},
    // The values that one thread reads do not go backwards.
    {"coherence", [] { shared.x.fetch_add(1, kRelaxed); },
     [] {
       results.seen[0] = shared.x.load(kRelaxed);
       results.seen[1] = shared.x.load(kRelaxed);
     },
     [] { return results.seen[0] <= results.seen[1]; }},
    // An aligned value is one of those that were stored (TMI, figure 3).
    {"figure_3", [] { shared.word.store(static_cast<uint16_t>(results.run << 8), kRelaxed); },
     [] { shared.word.store(static_cast<uint16_t>(results.run & 0xff), kRelaxed); },
     [] {
       const uint16_t word = shared.word.load(kRelaxed);
       return word == static_cast<uint16_t>(results.run << 8) || word == (results.run & 0xff);
     }},
    {"figure_11", [] { swap_from(0); }, [] { swap_from(1); },
     [] {
       long sum = 0, product = 1;
       for (long& element : shared.elements) {
         const long value = __atomic_load_n(&element, __ATOMIC_RELAXED);
         sum += value;
         product *= value;
       }
       return sum == 60 && product == 6'000;
     }},
    lock(
        "spin_lock", [] { return shared.flag.exchange(1, kAcquire) == 0; },
        [] { shared.flag.store(0, kRelease); }),
    lock(
        "ticket_lock",
        [] {
          int mine = shared.y.load(kRelaxed);
          return shared.x.compare_exchange_strong(mine, mine + 1, kAcquire, kRelaxed);
        },
        [] { shared.y.store(shared.y.load(kRelaxed) + 1, kRelease); }),
    lock(
        "mutex", [] { return pthread_mutex_trylock(&locks.mutex) == 0; },
        [] { pthread_mutex_unlock(&locks.mutex); }),
    lock(
        "read_write_lock", [] { return pthread_rwlock_trywrlock(&locks.rwlock) == 0; },
        [] { pthread_rwlock_unlock(&locks.rwlock); }),
    lock(
        "pthread_spin_lock", [] { return pthread_spin_trylock(&locks.spin) == 0; },
        [] { pthread_spin_unlock(&locks.spin); }),
    lock(
        "semaphore", [] { return sem_trywait(&locks.semaphore) == 0; }, [] { sem_post(&locks.semaphore); }),
};

// Runs one of a case's converted threads step by step.
class Stepped {
 public:
  Stepped(const Kernel& kernel, bool is_first)
      : kernel_(kernel), is_first_(is_first), part_(is_first ? kernel.first : kernel.second) {
    results.second = is_first ? kernel.second : kernel.first;
  }

  void try_all(bool pairs) {
    const uint64_t places = run({false, kSteppingNothing, 0, 0});
    for (uint64_t other = 1; other <= places; ++other) {
      run({false, kSteppingNothing, 0, other});
      for (const SteppingInjects injects : {kSteppingCommit, kSteppingGiveBack, kSteppingConvert}) {
        run({false, injects, other, other});
        run({false, injects, other + 1, other});
      }
      for (uint64_t at = 1; pairs && at <= places; ++at) run({false, kSteppingCommit, at, other});
    }
    // Includes our library's code before and after a call of the C library.
    const uint64_t all = run({true, kSteppingNothing, 0, 0});
    for (uint64_t other = 1; other <= all; ++other) run({true, kSteppingNothing, 0, other});
    printf("%s, the %s by steps: %lu places, %lu runs\n", kernel_.name, is_first_ ? "first" : "second",
           places, runs_);
  }

 private:
  uint64_t run(const SteppingPlan& plan) {
    ++runs_;
    ++results.run;
    const uint64_t places = stepping_run(part_, &plan);
    if (kernel_.is_right()) return places;
    constexpr const char* kInjects[] = {"nothing", "a commit", "given back", "converted"};
    dprintf(2, "%s, the %s by steps: wrong with %s at %lu, the other at %lu\n", kernel_.name,
            is_first_ ? "first" : "second", kInjects[plan.injects], plan.inject_at, plan.other_at);
    _exit(1);
  }

  const Kernel& kernel_;
  bool is_first_;
  void (*part_)();
  uint64_t runs_ = 0;
};

void try_all(const Kernel& kernel, bool pairs) {
  pthread_spin_init(&locks.spin, 0);
  sem_init(&locks.semaphore, 0, 1);
  stepping_begin(&shared, sizeof shared);
  Team team(2, [&](int converted) {
    if (converted == 1) {
      REQUIRE_THAT(isolated_pages_take(&shared, sizeof shared));
      stepping_serve([] { results.second(); });
    } else {
      Stepped(kernel, true).try_all(pairs);
      Stepped(kernel, false).try_all(pairs);
      stepping_end();
    }
    isolated_pages_leave();
  });
  team.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    for (const Kernel& kernel : kKernels) puts(kernel.name);
    return 0;
  }
  for (const Kernel& kernel : kKernels) {
    if (strcmp(argv[1], kernel.name) != 0) continue;
    isolated_pages_start();
    try_all(kernel, argc > 2 && strcmp(argv[2], "pairs") == 0);
    return 0;
  }
  return 2;
}
