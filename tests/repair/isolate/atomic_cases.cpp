// Results of atomic operations in converted threads with private pages, case by case, like
// converted_thread_cases.cpp. `atomic_cases CASE` exits with status 0 if all sums are right. `atomic_cases
// CASE unpatched` prints the sums if converted threads execute the compiler's instructions.

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/isolated_atomics.h"
#include "tests/repair/isolate/team.h"

namespace {

constexpr int kConvertedThreads = 3;

__extension__ using Pair = unsigned __int128;

struct alignas(4096) Page {
  std::atomic<uint8_t> bytes[2];
  std::atomic<uint16_t> shorts[2];
  std::atomic<uint32_t> words[2];
  std::atomic<uint64_t> longs[2];
  alignas(16) Pair pair;
  std::atomic<bool> lock;
  uint64_t plain[kConvertedThreads];  // one per thread
  uint64_t guarded;                   // guarded by the lock on another page
  alignas(16) char room[256];
};
Page hot, other, calm;  // `calm` has no atomic accesses

bool patches = true;
bool keeps = false;

void start() {
  isolated_make_common();
  isolated_plan_atomics(patches);
  if (keeps) isolated_keep_patched_code();
  isolated_add_page(&hot);
  isolated_add_page(&other);
  isolated_add_page(&calm);
  if (isolated_begin() == 0) return;
  dprintf(2, "no session\n");
  _exit(125);
}

void become_converted() {
  REQUIRE_THAT(isolated_convert());
  REQUIRE_THAT(isolated_is_converted());
}

// Runs converted threads that start together, with three private pages each, and end together. They wait
// without system calls, which would commit.
template <typename Work>
void in_converted_threads(const Work& work) {
  std::atomic<int> begun{0}, done{0};
  const auto meet = [](std::atomic<int>& all) {
    ++all;
    while (all != kConvertedThreads) __builtin_ia32_pause();
  };
  Team team(kConvertedThreads, [&](int i) {
    become_converted();
    REQUIRE_THAT(isolated_pages() > 0);
    meet(begun);
    work(i);
    meet(done);
    isolated_give_back();
  });
}

void lock() {
  for (int turn = 1; other.lock.exchange(true); ++turn)
    if (turn % 64 == 0) sched_yield();
}
void unlock() {
  other.lock.exchange(false);  // store() would be a plain instruction
}

// --- cases

constexpr uint64_t kTurns = 20'000;

void add_to_pair(uint64_t value) {
  Pair seen = 0;
  for (;;) {
    const Pair found = __sync_val_compare_and_swap(&hot.pair, seen, seen + value);
    if (found == seen) return;
    seen = found;
  }
}

void sums() {
  start();
  in_converted_threads([](int i) {
    for (uint64_t turn = 0; turn < kTurns; ++turn) {
      ++hot.bytes[1];
      hot.shorts[1] -= 3;
      hot.words[1].fetch_add(5);
      hot.longs[1].fetch_add(uint64_t{1} << 33);
      hot.words[0].fetch_xor(1u << (i + 3 * turn % 20));
      hot.longs[0].fetch_or(uint64_t{1} << (turn % 60));
      add_to_pair(uint64_t{1} << 63);
      hot.plain[i] = hot.plain[i] + 1;
    }
  });
  const uint64_t all = kConvertedThreads * kTurns;
  REQUIRE_THAT(hot.bytes[1] == static_cast<uint8_t>(all));
  REQUIRE_THAT(hot.shorts[1] == static_cast<uint16_t>(uint64_t{0} - 3 * all));
  REQUIRE_THAT(hot.words[1] == 5 * all);
  REQUIRE_THAT(hot.longs[1] == all << 33);
  REQUIRE_THAT(hot.longs[0] == (uint64_t{1} << 60) - 1);
  REQUIRE_THAT(hot.pair == static_cast<Pair>(all) << 63);
  for (const uint64_t own : hot.plain) REQUIRE_THAT(own == kTurns);
  REQUIRE_THAT(hot.bytes[0] == 0 && hot.shorts[0] == 0);
}

// One of the threads at a time has the lock, and finds what the previous one wrote on a page that stays
// private.
void spin_lock() {
  start();
  in_converted_threads([](int) {
    for (uint64_t turn = 0; turn < kTurns / 4; ++turn) {
      lock();
      calm.guarded = calm.guarded + 1;
      unlock();
    }
    REQUIRE_THAT(isolated_pages() == 2);
  });
  REQUIRE_THAT(calm.guarded == kConvertedThreads * kTurns / 4);
}

struct Counted {
  explicit Counted(int* destroyed) : destroyed_(destroyed) {}
  ~Counted() { ++*destroyed_; }
  int* destroyed_;
};

// Allocates from the page's room.
template <typename T>
struct InRoom {
  using value_type = T;
  InRoom() = default;
  template <typename U>
  explicit InRoom(const InRoom<U>&) {}
  T* allocate(size_t) {
    static_assert(sizeof(T) <= sizeof hot.room);
    return reinterpret_cast<T*>(hot.room);
  }
  void deallocate(T*, size_t) {}
};

// All threads count each thread's references, and the next thread releases them.
void references() {
  start();
  constexpr int kKept = 100;
  static std::shared_ptr<Counted> kept[kConvertedThreads][kKept];
  int destroyed = 0;
  auto first = std::allocate_shared<Counted>(InRoom<Counted>(), &destroyed);
  in_converted_threads([&](int i) {
    for (uint64_t turn = 0; turn < kTurns; ++turn) kept[i][turn % kKept] = first;
  });
  REQUIRE_THAT(first.use_count() == 1 + kConvertedThreads * kKept && destroyed == 0);
  first.reset();
  in_converted_threads([&](int i) {
    for (std::shared_ptr<Counted>& one : kept[(i + 1) % kConvertedThreads]) one.reset();
  });
  REQUIRE_THAT(destroyed == 1);
}

// Threads come home and are converted anywhere, above all in trampolines: by other threads, and by handlers.
std::atomic<uint64_t> handled{0};

void convert_in_handler(int) {
  handled.fetch_add(1);
  hot.longs[1].fetch_add(1);
  isolated_convert();
}

void storm() {
  start();
  struct sigaction action {};
  action.sa_handler = convert_in_handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  constexpr int kAsked = 300;
  std::atomic<int> tids[kConvertedThreads] = {};
  std::atomic<bool> over{false};
  std::atomic<uint64_t> turns{0}, private_turns{0};
  Team team(kConvertedThreads, [&](int i) {
    tids[i] = thread_id();
    uint64_t turn = 0;
    for (; !over; ++turn) {
      if (turn % 512 == 0) isolated_convert();
      hot.longs[0].fetch_add(1);
      calm.plain[i] = calm.plain[i] + 1;
      if (turn % 8 == 0) {
        lock();
        calm.guarded = calm.guarded + 1;
        unlock();
      }
      if (isolated_pages()) ++private_turns;
    }
    isolated_give_back();
    REQUIRE_THAT(calm.plain[i] == turn);
    turns += turn;
    hot.words[0] += static_cast<uint32_t>((turn + 7) / 8);
  });
  for (int asked = 0; asked < kAsked || !handled || !private_turns; ++asked) {
    const int i = asked % kConvertedThreads;
    const timespec pause{0, 200'000};
    nanosleep(&pause, nullptr);
    if (!tids[i]) continue;
    if (asked % 2)
      pthread_kill(team.thread(i), SIGUSR1);
    else
      isolated_ask_back(tids[i]);
  }
  over = true;
  team.join();
  printf("%lu conversions, %lu signals, %lu of %lu turns with private pages\n", isolated_counts().conversions,
         handled.load(), private_turns.load(), turns.load());
  fflush(stdout);
  REQUIRE_THAT(hot.longs[0] == turns);
  REQUIRE_THAT(hot.longs[1] == handled);
  REQUIRE_THAT(calm.guarded == hot.words[0]);
}

// A fault of an atomic instruction must look like the program's own, not like one of the code that replaced
// it.
sigjmp_buf before_fault;
uint64_t fault_at = 0;

void jump_out(int, siginfo_t*, void* raw) {
  fault_at = static_cast<uint64_t>(static_cast<ucontext_t*>(raw)->uc_mcontext.gregs[REG_RIP]);
  siglongjmp(before_fault, 1);
}

[[gnu::noinline]] void add_to(std::atomic<uint64_t>* counter) {
  counter->fetch_add(1);
}

void fault() {
  start();
  struct sigaction action {};
  action.sa_sigaction = jump_out;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, nullptr);
  Team team(1, [](int) {
    for (int turn = 0; turn < 3; ++turn) {
      become_converted();
      if (sigsetjmp(before_fault, 1) == 0) {
        add_to(nullptr);
        REQUIRE_THAT(false);
      }
      REQUIRE_THAT(!isolated_is_converted());
      REQUIRE_THAT(fault_at - reinterpret_cast<uint64_t>(&add_to) < 16);
      become_converted();
      REQUIRE_THAT(isolated_pages() == 3);  // the thread is no longer at an atomic instruction
      isolated_give_back();
    }
  });
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {
    {"sums", sums}, {"spin_lock", spin_lock}, {"references", references}, {"storm", storm}, {"fault", fault},
};

}  // namespace

int main(int count, char** arguments) {
  patches = count < 3 || strcmp(arguments[2], "unpatched");
  keeps = count == 3 && !strcmp(arguments[2], "kept");
  for (const Case& each : kCases) {
    if (count < 2 || strcmp(each.name, arguments[1])) continue;
    each.run();
    return 0;
  }
  for (const Case& each : kCases) puts(each.name);
  return count == 1 ? 0 : 2;
}
