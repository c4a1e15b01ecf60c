// Mutexes that are taken and released without the C library look to it as if it had done so, and code that
// interrupts the thread meanwhile can detect that.

#include <errno.h>
#include <signal.h>
#include <sys/single_threaded.h>
#include <sys/ucontext.h>
#include <threads.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "tests/repair/locks/repairer.h"

using namespace prof;

namespace {

constexpr long kTrapFlag = 0x100;

using Bytes = std::array<unsigned char, sizeof(pthread_mutex_t)>;

Bytes bytes_of(const pthread_mutex_t& mutex) {
  Bytes bytes;
  std::memcpy(bytes.data(), &mutex, sizeof mutex);
  return bytes;
}

uint32_t direct_calls() {
  const char* const thread = reinterpret_cast<const char*>(pthread_self());
  return *reinterpret_cast<const volatile uint32_t*>(thread + lock_switches().direct_calls);
}

// Checks at each instruction of the thread whether the mutex is between two states, and if so, whether that
// can be detected.
struct Watch {
  const volatile pthread_mutex_t* mutex = nullptr;
  unsigned instructions = 0;
  unsigned between = 0;
  unsigned unknown = 0;
  unsigned detour_at = 0;  // the first instruction with a detour; 0: never
};
Watch watch;

bool is_whole(const volatile __pthread_mutex_s& mutex) {
  const bool is_free = mutex.__lock == 0 && mutex.__owner == 0 && mutex.__nusers == 0;
  const bool is_taken = mutex.__lock == 1 && mutex.__owner != 0 && mutex.__nusers == 1;
  return is_free || is_taken;
}

void look(int, siginfo_t*, void*) {
  ++watch.instructions;
  if (watch.instructions == watch.detour_at) lock_switches().set_detour(hpcrun::kInSession, true);
  if (is_whole(watch.mutex->__data)) return;
  ++watch.between;
  watch.unknown += direct_calls() == 0;
}

class Stepping {
 public:
  explicit Stepping(const pthread_mutex_t& mutex, unsigned detour_at = 0) {
    watch = {.mutex = &mutex, .detour_at = detour_at};
    struct sigaction action {};
    action.sa_sigaction = look;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before_);
    asm volatile("pushfq; orq %0, (%%rsp); popfq" ::"i"(kTrapFlag) : "memory", "cc");
  }
  ~Stepping() {
    asm volatile("pushfq; andq %0, (%%rsp); popfq" ::"i"(~kTrapFlag) : "memory", "cc");
    sigaction(SIGTRAP, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
};

// As long as it lives, nothing takes the direct path.
class Detour {
 public:
  Detour() { lock_switches().set_detour(hpcrun::kInSession, true); }
  ~Detour() { lock_switches().set_detour(hpcrun::kInSession, false); }
};

// With another thread, locks need atomic instructions.
class Company {
 public:
  Company() : thread_([this] { ends_.wait(false); }) {}
  ~Company() {
    ends_ = true;
    ends_.notify_one();
    thread_.join();
  }

 private:
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// Threads of earlier tests left the C library's indication that the process had several.
class Surroundings {
 public:
  explicit Surroundings(bool has_company)
      : company_(has_company ? std::make_unique<Company>() : nullptr), before_(__libc_single_threaded) {
    __libc_single_threaded = !has_company;
  }
  ~Surroundings() { __libc_single_threaded = before_; }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  const std::unique_ptr<Company> company_;
  const char before_;
};

}  // namespace

TEST_CASE("the C library's mutexes are known") {
  CHECK(lock_switches().detours == 0);
}

TEST_CASE("a mutex that was taken directly looks like one that the C library took") {
  const Surroundings surroundings(GENERATE(false, true));
  for (const int kind :
       {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_ADAPTIVE_NP}) {
    pthread_mutex_t ours = make_mutex(kind), native = make_mutex(kind);
    REQUIRE(pthread_mutex_lock(&ours) == native_mutex().lock(&native));
    CHECK(bytes_of(ours) == bytes_of(native));
    CHECK(elsewhere([&] { return pthread_mutex_trylock(&ours); }) == EBUSY);
    CHECK(elsewhere([&] { return native_mutex().trylock(&ours); }) == EBUSY);
    REQUIRE(pthread_mutex_unlock(&ours) == native_mutex().unlock(&native));
    CHECK(bytes_of(ours) == bytes_of(native));
    REQUIRE(pthread_mutex_trylock(&ours) == native_mutex().trylock(&native));
    CHECK(bytes_of(ours) == bytes_of(native));
    REQUIRE(native_mutex().unlock(&ours) == pthread_mutex_unlock(&native));
    CHECK(bytes_of(ours) == bytes_of(native));
  }
}

TEST_CASE("the C11 functions do the same") {
  mtx_t mutex;
  REQUIRE(mtx_init(&mutex, mtx_plain) == thrd_success);
  CHECK(mtx_lock(&mutex) == thrd_success);
  CHECK(elsewhere([&] { return mtx_trylock(&mutex); }) == thrd_busy);
  CHECK(mtx_unlock(&mutex) == thrd_success);
  CHECK(elsewhere([&] { return mtx_trylock(&mutex) == thrd_success ? mtx_unlock(&mutex) : -1; }) ==
        thrd_success);
}

TEST_CASE("threads exclude each other, whichever way each of them goes") {
  constexpr unsigned kThreads = 4, kRounds = 50'000;
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  uint64_t count = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (unsigned round = 0; round < kRounds; ++round) {
        if (i == 0 && round % 64 == 0) lock_switches().set_detour(hpcrun::kInSession, round % 128 == 0);
        const bool is_native = (i + round) % 3 == 0;
        is_native ? native_mutex().lock(&mutex) : pthread_mutex_lock(&mutex);
        ++count;
        (i + round) % 5 == 0 ? native_mutex().unlock(&mutex) : pthread_mutex_unlock(&mutex);
      }
    });
  for (std::thread& thread : threads) thread.join();
  lock_switches().set_detour(hpcrun::kInSession, false);
  CHECK(count == kThreads * kRounds);
  CHECK(mutex.__data.__lock == 0);
  CHECK(mutex.__data.__nusers == 0);
}

TEST_CASE("who interrupts a thread with half a mutex can know that it is in a direct call") {
  const Company company;  // without another thread, no thread can be affected
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);  // resolves lazy bindings
  pthread_mutex_unlock(&mutex);
  {
    const Stepping stepping(mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  CHECK(watch.instructions > 20);
  CHECK(watch.between >= 4);
  CHECK(watch.unknown == 0);
  CHECK(direct_calls() == 0);
}

TEST_CASE("on a detour no direct call changes a mutex") {
  const Company company;
  const Detour detour;
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  {
    const Stepping stepping(mutex);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  CHECK(watch.between >= 2);
  CHECK(watch.unknown == watch.between);  // calls of the C library, which other code can detect
}

TEST_CASE("a detour that begins at any instruction finds mutexes taken once, and released") {
  const Company company;
  alignas(64) pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  unsigned again = 0;
  for (unsigned at = 1; at <= 120; ++at) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    unsigned in_lock = 0;
    {
      const Stepping stepping(mutex, at);
      pthread_mutex_lock(&mutex);
      in_lock = watch.instructions;
    }
    CAPTURE(at);
    CHECK(mutex.__data.__lock == 1);
    CHECK(mutex.__data.__nusers == 1);
    CHECK(mutex.__data.__owner == gettid());
    again += in_lock > at && direct_calls() == 0;
    {
      const Stepping stepping(mutex, at);
      pthread_mutex_unlock(&mutex);
    }
    lock_switches().set_detour(hpcrun::kInSession, false);
    CHECK(mutex.__data.__lock == 0);
    CHECK(mutex.__data.__nusers == 0);
    CHECK(mutex.__data.__owner == 0);
  }
  CHECK(again > 10);
}
