// Read-write locks are moved by threads that have them for writing, and behave as without that.

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "tests/repair/locks/repairer.h"

using namespace prof;

namespace {

constexpr int kKinds[] = {PTHREAD_RWLOCK_PREFER_READER_NP, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};

pthread_rwlock_t make_lock(int kind, int shared = PTHREAD_PROCESS_PRIVATE) {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, kind);
  pthread_rwlockattr_setpshared(&attributes, shared);
  pthread_rwlock_t lock;
  pthread_rwlock_init(&lock, &attributes);
  return lock;
}

void write_once(pthread_rwlock_t* lock) {
  REQUIRE(pthread_rwlock_wrlock(lock) == 0);
  REQUIRE(pthread_rwlock_unlock(lock) == 0);
}

enum class Call { Read, TryRead, TimedRead, Write, TryWrite, TimedWrite, ClockWrite, Unlock };
constexpr int kCalls = 8;

struct Functions {
  int (*read)(pthread_rwlock_t*);
  int (*try_read)(pthread_rwlock_t*);
  int (*timed_read)(pthread_rwlock_t*, const timespec*);
  int (*write)(pthread_rwlock_t*);
  int (*try_write)(pthread_rwlock_t*);
  int (*timed_write)(pthread_rwlock_t*, const timespec*);
  int (*clock_write)(pthread_rwlock_t*, clockid_t, const timespec*);
  int (*unlock)(pthread_rwlock_t*);
};

constexpr Functions kOurs{pthread_rwlock_rdlock,      pthread_rwlock_tryrdlock, pthread_rwlock_timedrdlock,
                          pthread_rwlock_wrlock,      pthread_rwlock_trywrlock, pthread_rwlock_timedwrlock,
                          pthread_rwlock_clockwrlock, pthread_rwlock_unlock};

// The C library's own functions, without interposition.
const Functions& native() {
  static const Functions found = [] {
    void* const library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    Functions functions{};
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      REQUIRE(function);
    };
    find(functions.read, "pthread_rwlock_rdlock");
    find(functions.try_read, "pthread_rwlock_tryrdlock");
    find(functions.timed_read, "pthread_rwlock_timedrdlock");
    find(functions.write, "pthread_rwlock_wrlock");
    find(functions.try_write, "pthread_rwlock_trywrlock");
    find(functions.timed_write, "pthread_rwlock_timedwrlock");
    find(functions.clock_write, "pthread_rwlock_clockwrlock");
    find(functions.unlock, "pthread_rwlock_unlock");
    return functions;
  }();
  return found;
}

int do_call(const Functions& functions, Call call, pthread_rwlock_t* lock) {
  constexpr timespec kLongAgo{1, 0};
  switch (call) {
    case Call::Read:
      return functions.read(lock);
    case Call::TryRead:
      return functions.try_read(lock);
    case Call::TimedRead:
      return functions.timed_read(lock, &kLongAgo);
    case Call::Write:
      return functions.write(lock);
    case Call::TryWrite:
      return functions.try_write(lock);
    case Call::TimedWrite:
      return functions.timed_write(lock, &kLongAgo);
    case Call::ClockWrite:
      return functions.clock_write(lock, CLOCK_MONOTONIC, &kLongAgo);
    case Call::Unlock:
      return functions.unlock(lock);
  }
  return -1;
}

bool writes(Call call) {
  return call == Call::Write || call == Call::TryWrite || call == Call::TimedWrite ||
         call == Call::ClockWrite;
}

// A thread that makes one call after the other.
class Worker {
 public:
  Worker() {
    sem_init(&asked_, 0, 0), sem_init(&done_, 0, 0), thread_ = std::thread([this] { work(); });
  }
  ~Worker() {
    functions_ = nullptr;
    sem_post(&asked_);
    thread_.join();
  }
  int call(const Functions& functions, Call call, pthread_rwlock_t* lock) {
    functions_ = &functions, call_ = call, lock_ = lock;
    sem_post(&asked_);
    sem_wait(&done_);
    return result_;
  }

 private:
  void work() {
    for (sem_wait(&asked_); functions_; sem_wait(&asked_)) {
      result_ = do_call(*functions_, call_, lock_);
      sem_post(&done_);
    }
  }
  sem_t asked_, done_;
  const Functions* functions_ = nullptr;
  Call call_{};
  pthread_rwlock_t* lock_ = nullptr;
  int result_ = 0;
  std::thread thread_;
};

// The state of two threads. Undefined calls, and those that would wait forever, are not made.
struct Model {
  int reads[2] = {}, writer = -1;

  bool may(int thread, Call call) const {
    const bool is_read = reads[0] + reads[1] > 0;
    if (call == Call::Unlock) return reads[thread] > 0 || writer == thread;
    if (call == Call::Read) return writer == -1 || writer == thread;
    if (call == Call::Write) return !is_read && (writer == -1 || writer == thread);
    return true;
  }
  void see(int thread, Call call, int error) {
    if (error) return;
    if (call != Call::Unlock)
      writes(call) ? writer = thread : ++reads[thread];
    else if (writer == thread)
      writer = -1;
    else
      --reads[thread];
  }
};

}  // namespace

TEST_CASE("a read-write lock is moved by who has it for writing, and by nobody else") {
  alignas(64) pthread_rwlock_t lock = make_lock(GENERATE(from_range(std::begin(kKinds), std::end(kKinds))));
  Repairer repairer;
  repairer.add(lock);
  CHECK(pthread_rwlock_rdlock(&lock) == 0);
  CHECK(pthread_rwlock_tryrdlock(&lock) == 0);
  CHECK(!is_moved(&lock));
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  CHECK(pthread_rwlock_wrlock(&lock) == 0);
  CHECK(is_moved(&lock));
  CHECK(Repairer::moved() == 1);
  CHECK(pthread_rwlock_wrlock(&lock) == EDEADLK);
  CHECK(elsewhere([&] { return pthread_rwlock_tryrdlock(&lock); }) == EBUSY);
  CHECK(pthread_rwlock_unlock(&lock) == 0);
  // From then on it is not written.
  const pthread_rwlock_t before = lock;
  for (int i = 0; i < 3; ++i) {
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    CHECK(elsewhere([&] { return pthread_rwlock_tryrdlock(&lock) + pthread_rwlock_unlock(&lock); }) == 0);
    CHECK(elsewhere([&] { return pthread_rwlock_trywrlock(&lock); }) == EBUSY);
    CHECK(pthread_rwlock_unlock(&lock) == 0);
    write_once(&lock);
  }
  CHECK(memcmp(&before, &lock, sizeof lock) == 0);
  CHECK(Repairer::moved() == 1);
}

TEST_CASE("random calls on a read-write lock give the C library's results, wherever it is moved") {
  const int kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
  std::mt19937_64 random(static_cast<unsigned>(kind) + 7);
  Worker workers[2];
  unsigned moves = 0;
  for (int sequence = 0; sequence < 80; ++sequence) {
    pthread_rwlock_t expected_of = make_lock(kind), ours = make_lock(kind);
    const uint64_t moved_at = random() % 30;
    std::unique_ptr<Repairer> repairer;
    Model model;
    std::string log;
    for (unsigned i = 0; i < 80; ++i) {
      if (i == moved_at) {
        repairer = std::make_unique<Repairer>();
        repairer->add(ours);
      }
      const int thread = static_cast<int>(random() % 2);
      // Released as often as taken.
      const Call call = random() % 2 ? Call::Unlock : static_cast<Call>(random() % kCalls);
      if (!model.may(thread, call)) continue;
      log += std::to_string(thread) + ":" + std::to_string(static_cast<int>(call)) + " ";
      const int expected = workers[thread].call(native(), call, &expected_of);
      const int result = workers[thread].call(kOurs, call, &ours);
      INFO("kind " << kind << ", moved at " << moved_at << ": " << log);
      REQUIRE(result == expected);
      model.see(thread, call, result);
    }
    moves += Repairer::moved();
    CHECK(pthread_rwlock_destroy(&ours) == 0);
    CHECK(!is_moved(&ours));
  }
  CHECK(moves > 60);
}

TEST_CASE("readers and writers that wait for a lock as it is moved follow it") {
  const int kind = GENERATE(from_range(std::begin(kKinds), std::end(kKinds)));
  alignas(64) pthread_rwlock_t lock = make_lock(kind);
  constexpr unsigned kThreads = 6;
  unsigned written = 0;
  Expectations in_threads;
  Repairer repairer;
  repairer.add(lock);
  std::vector<std::thread> threads;
  const auto begin_threads = [&] {
    for (unsigned i = 0; i < kThreads; ++i)
      threads.emplace_back([&, i] {
        const timespec future{4'000'000'000, 0};
        const bool is_writer = i % 2;
        in_threads.expect(
            (is_writer ? i % 3 ? pthread_rwlock_wrlock(&lock) : pthread_rwlock_timedwrlock(&lock, &future)
             : i % 3 ? pthread_rwlock_rdlock(&lock)
                       : pthread_rwlock_timedrdlock(&lock, &future)) == 0);
        if (is_writer) ++written;
        in_threads.expect(pthread_rwlock_unlock(&lock) == 0);
      });
    wait_for_sleepers(kThreads);
  };
  // Like a writer that waited for a reader: in its original place, with others queued after it.
  REQUIRE(native().write(&lock) == 0);
  begin_threads();
  CHECK(!is_moved(&lock));
  native().unlock(&lock);
  for (std::thread& thread : threads) thread.join();
  CHECK(written == kThreads / 2);
  CHECK(in_threads.failed() == 0);
  CHECK(is_moved(&lock));
  CHECK(Repairer::moved() == 1);
  CHECK(pthread_rwlock_trywrlock(&lock) == 0);
  CHECK(native().try_write(&lock) == 0);  // no thread has the original
}

TEST_CASE("writers exclude each other and readers while lines are found one after the other") {
  constexpr unsigned kLocks = 16, kThreads = 4, kTurns = 40'000;
  struct Pool {
    alignas(64) pthread_rwlock_t locks[kLocks];
    uint64_t first[kLocks] = {}, second[kLocks] = {};
  };
  const auto pool = std::make_unique<Pool>();
  for (unsigned i = 0; i < kLocks; ++i) pool->locks[i] = make_lock(kKinds[i % 2]);
  Repairer repairer;
  Expectations in_threads;
  std::atomic<uint64_t> written{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      for (unsigned i = 0; i < kTurns; ++i) {
        const uint64_t which = random() % kLocks, how = random() % 4;
        pthread_rwlock_t* const lock = &pool->locks[which];
        if (how > 1) {
          if (how == 2 ? pthread_rwlock_tryrdlock(lock) : pthread_rwlock_rdlock(lock)) continue;
          in_threads.expect(pool->first[which] == pool->second[which]);
        } else {
          if (how == 0 ? pthread_rwlock_trywrlock(lock) : pthread_rwlock_wrlock(lock)) continue;
          ++pool->first[which], ++written, ++pool->second[which];
        }
        in_threads.expect(pthread_rwlock_unlock(lock) == 0);
      }
    });
  for (size_t at = 0; at < sizeof pool->locks; at += 64) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    repairer.add(reinterpret_cast<char*>(pool->locks) + at, 1);
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(in_threads.failed() == 0);
  uint64_t sum = 0;
  for (unsigned i = 0; i < kLocks; ++i) {
    sum += pool->first[i];
    write_once(&pool->locks[i]);
    CHECK(is_moved(&pool->locks[i]));
    CHECK(pthread_rwlock_destroy(&pool->locks[i]) == 0);
  }
  CHECK(sum == written);
  CHECK(Repairer::moved() == kLocks);
}

TEST_CASE("a read-write lock that is destroyed or made anew is a plain one, and can be moved again") {
  alignas(64) pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  Repairer repairer;
  repairer.add(lock);
  for (int life = 0; life < 4; ++life) {
    write_once(&lock);
    CHECK(is_moved(&lock));
    if (life % 2) CHECK(pthread_rwlock_destroy(&lock) == 0);
    if (life < 2)
      pthread_rwlock_init(&lock, nullptr);
    else
      lock = PTHREAD_RWLOCK_INITIALIZER;
    CHECK(!is_moved(&lock));
  }
  CHECK(Repairer::moved() == 4);
  write_once(&lock);
  pthread_rwlock_t copy;
  memcpy(&copy, &lock, sizeof lock);
  CHECK(!is_moved(&copy));
  CHECK(pthread_rwlock_wrlock(&copy) == 0);
  CHECK(elsewhere([&] { return pthread_rwlock_trywrlock(&lock) + pthread_rwlock_unlock(&lock); }) == 0);
  CHECK(pthread_rwlock_unlock(&copy) == 0);
}

TEST_CASE("a read-write lock for several processes, or in memory that they share, stays") {
  // In a place where none was moved before.
  alignas(64) static pthread_rwlock_t lock = make_lock(kKinds[0], PTHREAD_PROCESS_SHARED);
  constexpr size_t kBytes = 4 * 4096;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto* const in_shared = reinterpret_cast<pthread_rwlock_t*>(static_cast<char*>(memory) + 3 * 4096 + 1152);
  Repairer repairer;
  repairer.add(lock);
  repairer.add(memory, kBytes);
  for (int i = 0; i < 3; ++i) {
    write_once(&lock);
    write_once(in_shared);
    CHECK(!is_moved(&lock));
    CHECK(!is_moved(in_shared));
  }
  CHECK(Repairer::moved() == 0);
  CHECK(Repairer::declined(hpcrun::LockDeclined::Shared) == 2);
  munmap(memory, kBytes);
}

TEST_CASE("C++'s shared mutexes are moved while threads use them") {
  alignas(64) std::shared_mutex mutexes[4];
  Repairer repairer;
  repairer.add(mutexes);
  uint64_t count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20'000; ++i) {
        if (i % 4) {
          const std::shared_lock reading(mutexes[1]);
        } else {
          const std::lock_guard writing(mutexes[1]);
          ++count;
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(count == 15'000);
  CHECK(is_moved(&mutexes[1]));
  CHECK(!is_moved(&mutexes[0]));
  CHECK(Repairer::moved() == 1);
}
