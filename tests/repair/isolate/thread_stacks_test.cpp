#include "repair/isolate/memory/thread_stacks.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <set>
#include <thread>
#include <vector>

#include "repair/isolate/memory/common_memory.h"
#include "tests/repair/isolate/child.h"

namespace {

constexpr size_t kBytes = 256 * 1024;
constexpr size_t kGuard = 8192;

struct Start {
  hpcrun::ThreadStack* stack;
  bool is_common = false;
};

void* run(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  hpcrun::thread_stack_is_used(start.stack, gettid());
  int local = 0;
  start.is_common = hpcrun::is_common(&local);
  return nullptr;
}

bool create(pthread_t& thread, Start& start, bool is_detached = false) {
  start.stack = hpcrun::take_thread_stack(kBytes, kGuard, is_detached);
  if (!start.stack) return false;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, start.stack->begin(), start.stack->bytes());
  if (is_detached) pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  return pthread_create(&thread, &attributes, run, &start) == 0;
}

}  // namespace

TEST_CASE("without common memory the C library has its own stacks") {
  CHECK(hpcrun::take_thread_stack(kBytes, kGuard, false) == nullptr);
}

TEST_CASE("stacks of threads are common, and used again when the threads were joined") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    std::set<uint64_t> places;
    for (int turn = 0; turn < 300; ++turn) {
      pthread_t thread;
      Start start;
      if (!create(thread, start)) return false;
      places.insert(start.stack->low);
      pthread_join(thread, nullptr);
      hpcrun::thread_stack_is_left(thread);
      if (!start.is_common) return false;
    }
    return places.size() < 20;  // the kernel may still have had some
  }));
}

TEST_CASE("a stack is nobody else's while its thread may be joined") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    std::set<uint64_t> places;
    std::vector<pthread_t> threads(50);
    std::vector<Start> starts(50);
    for (size_t at = 0; at < threads.size(); ++at) {
      if (!create(threads[at], starts[at])) return false;
      places.insert(starts[at].stack->low);
    }
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    return places.size() == threads.size();
  }));
}

TEST_CASE("a stack whose thread was not made is there for the next, with its guard") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    hpcrun::ThreadStack* const first = hpcrun::take_thread_stack(kBytes, kGuard, false);
    const uint64_t low = first->low;
    hpcrun::return_thread_stack(first);
    hpcrun::ThreadStack* const second = hpcrun::take_thread_stack(kBytes, kGuard, false);
    return second->low == low && second->bytes() == kBytes && second->guard_bytes == kGuard;
  }));
}

TEST_CASE("a thread that leaves its stack is SIGSEGV") {
  const int status = status_of([] {
    if (!hpcrun::make_common()) return 1;
    hpcrun::ThreadStack* const stack = hpcrun::take_thread_stack(kBytes, kGuard, false);
    static_cast<volatile char*>(stack->begin())[-1] = 1;
    return 0;
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}

TEST_CASE("stacks of detached threads are used again when the kernel has none of them any more") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    std::set<uint64_t> places;
    static Start starts[400];  // they outlive the turn
    for (Start& start : starts) {
      pthread_t thread;
      if (!create(thread, start, true)) return false;
      places.insert(start.stack->low);
      usleep(100);
    }
    return places.size() < 400;
  }));
}

namespace {

// Identifies by its first word which thread runs on a stack. A thread that is not alone there is an error.
std::atomic<int> strangers{0};

void* run_alone(void* raw) {
  auto* const stack = static_cast<hpcrun::ThreadStack*>(raw);
  auto* const owner = static_cast<std::atomic<int>*>(stack->begin());
  hpcrun::thread_stack_is_used(stack, gettid());
  if (owner->exchange(gettid()) != 0) ++strangers;
  for (int i = 0; i < 20; ++i) sched_yield();
  int self = gettid();
  if (!owner->compare_exchange_strong(self, 0)) ++strangers;
  return nullptr;
}

void create_many(int count) {
  for (int i = 0; i < count; ++i) {
    hpcrun::ThreadStack* const stack = hpcrun::take_thread_stack(kBytes, kGuard, true);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack->begin(), stack->bytes());
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    if (pthread_create(&thread, &attributes, run_alone, stack) != 0) hpcrun::return_thread_stack(stack);
    pthread_attr_destroy(&attributes);
  }
}

}  // namespace

TEST_CASE("a stack has one thread, however many look for stacks of threads that are gone") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    std::vector<std::thread> creators;
    for (int i = 0; i < 6; ++i) creators.emplace_back(create_many, 4'000);
    for (std::thread& creator : creators) creator.join();
    return strangers == 0;
  }));
}
