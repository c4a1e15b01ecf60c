// Every call on a mutex has the same result as with the C library alone, before and after it was moved.

#include <errno.h>
#include <semaphore.h>

#include <catch2/catch.hpp>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/repair/locks/repairer.h"

using namespace prof;

namespace {

enum class Call { Lock, TryLock, TimedLock, ClockLock, InvalidLock, Unlock, Destroy };
constexpr const char* kNames[] = {"lock",   "trylock", "timedlock", "clocklock", "timedlock (invalid)",
                                  "unlock", "destroy"};

constexpr timespec kLongAgo{1, 0};
constexpr timespec kInvalid{1, 1'000'000'000};

int do_call(const NativeMutex& calls, Call call, pthread_mutex_t* mutex) {
  switch (call) {
    case Call::Lock:
      return calls.lock(mutex);
    case Call::TryLock:
      return calls.trylock(mutex);
    case Call::TimedLock:
      return calls.timedlock(mutex, &kLongAgo);
    case Call::ClockLock:
      return calls.clocklock(mutex, CLOCK_MONOTONIC, &kLongAgo);
    case Call::InvalidLock:
      return calls.timedlock(mutex, &kInvalid);
    case Call::Unlock:
      return calls.unlock(mutex);
    case Call::Destroy:
      return calls.destroy(mutex);
  }
  return -1;
}

// A thread that makes one call after the other.
class Worker {
 public:
  Worker() {
    sem_init(&asked_, 0, 0), sem_init(&done_, 0, 0), thread_ = std::thread([this] { work(); });
  }
  ~Worker() {
    ends_ = true;
    sem_post(&asked_);
    thread_.join();
  }
  int call(const NativeMutex& calls, Call call, pthread_mutex_t* mutex) {
    calls_ = &calls, call_ = call, mutex_ = mutex;
    sem_post(&asked_);
    sem_wait(&done_);
    return result_;
  }

 private:
  void work() {
    for (;;) {
      sem_wait(&asked_);
      if (ends_) return;
      result_ = do_call(*calls_, call_, mutex_);
      sem_post(&done_);
    }
  }
  sem_t asked_, done_;
  bool ends_ = false;
  const NativeMutex* calls_ = nullptr;
  Call call_{};
  pthread_mutex_t* mutex_ = nullptr;
  int result_ = 0;
  std::thread thread_;
};

constexpr int kNobody = -1;

// Undefined calls, and those that would wait forever, are not made.
class Model {
 public:
  explicit Model(int kind) : kind_(kind) {}
  bool may(int thread, Call call) const {
    const bool is_checked = kind_ == PTHREAD_MUTEX_RECURSIVE || kind_ == PTHREAD_MUTEX_ERRORCHECK;
    if (call == Call::Lock) return holder_ == kNobody || (holder_ == thread && is_checked);
    // glibc lets any thread release a plain mutex. Other kinds refuse a release by a thread that does not
    // have it.
    if (call == Call::Unlock) return holder_ != kNobody || is_checked;
    return true;
  }
  void see(int thread, Call call, int error) {
    if (error) return;
    if (call == Call::Unlock) {
      if (--depth_ == 0) holder_ = kNobody;
    } else if (call != Call::Destroy) {
      holder_ = thread;
      ++depth_;
    }
  }
  int depth() const { return depth_; }

 private:
  int kind_;
  int holder_ = kNobody;
  int depth_ = 0;
};

struct Step {
  int thread;
  Call call;
};

std::string format_steps(const std::deque<Step>& steps) {
  std::string text;
  for (const Step& step : steps)
    text += std::to_string(step.thread) + " " + kNames[static_cast<int>(step.call)] + ", ";
  return text;
}

}  // namespace

TEST_CASE("random calls of two threads give the C library's results, wherever the mutex is moved") {
  const int kind = GENERATE(int{PTHREAD_MUTEX_NORMAL}, int{PTHREAD_MUTEX_RECURSIVE},
                            int{PTHREAD_MUTEX_ERRORCHECK}, int{PTHREAD_MUTEX_ADAPTIVE_NP});
  std::mt19937_64 random(static_cast<unsigned>(kind) + 1);
  Worker workers[2];
  unsigned moves = 0;
  for (int sequence = 0; sequence < 60; ++sequence) {
    pthread_mutex_t native = make_mutex(kind), ours = make_mutex(kind);
    const uint64_t moved_at = random() % 40;
    std::unique_ptr<Repairer> repairer;
    Model model(kind);
    std::deque<Step> steps;
    bool was_destroyed = false;
    for (unsigned i = 0; i < 60 && !was_destroyed; ++i) {
      if (i == moved_at) {
        repairer = std::make_unique<Repairer>();
        repairer->add(ours);
      }
      const Step step{static_cast<int>(random() % 2), static_cast<Call>(random() % 7)};
      if (!model.may(step.thread, step.call)) continue;
      if (step.call == Call::Destroy && i < 50 && model.depth() == 0) continue;
      steps.push_back(step);
      const int expected = workers[step.thread].call(native_mutex(), step.call, &native);
      const int result = workers[step.thread].call(our_mutex(), step.call, &ours);
      INFO("kind " << kind << ", moved at " << moved_at << ": " << format_steps(steps));
      REQUIRE(result == expected);
      model.see(step.thread, step.call, result);
      was_destroyed = step.call == Call::Destroy && result == 0;
    }
    if (repairer) moves += Repairer::moved();
    if (was_destroyed) {
      CHECK(!is_moved(&ours));
      CHECK(pthread_mutex_trylock(&ours) == native_mutex().trylock(&native));
    }
  }
  CHECK(moves > 50);
}

TEST_CASE("what refuses a mutex of these kinds refuses it where it was moved") {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  REQUIRE(is_moved(&mutex));
  int ceiling = 0;
  CHECK(pthread_mutex_getprioceiling(&mutex, &ceiling) == EINVAL);
  CHECK(pthread_mutex_setprioceiling(&mutex, 1, &ceiling) == EINVAL);
  CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
}

TEST_CASE("a call that waits for a moved mutex until a time is late, or has it") {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  Repairer repairer;
  repairer.add(mutex);
  pthread_mutex_lock(&mutex);
  REQUIRE(is_moved(&mutex));
  timespec soon;
  clock_gettime(CLOCK_MONOTONIC, &soon);
  CHECK(elsewhere([&] { return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon); }) == ETIMEDOUT);
  timespec late;
  clock_gettime(CLOCK_REALTIME, &late);
  late.tv_sec += 1000;
  Expectations in_thread;
  std::thread waiter([&] {
    in_thread.expect(pthread_mutex_timedlock(&mutex, &late) == 0);
    pthread_mutex_unlock(&mutex);
  });
  wait_for_sleepers(1);
  pthread_mutex_unlock(&mutex);
  waiter.join();
  CHECK(in_thread.failed() == 0);
}
