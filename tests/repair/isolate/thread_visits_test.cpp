// Tests the controller's judgement of the threads' activity since its previous round.

#include "repair/isolate/controller/thread_visits.h"

#include <semaphore.h>
#include <time.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/controller/converted_pages.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using Did = ThreadVisits::Did;

namespace {

constexpr uint64_t kUs = 1'000;
constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kS = 1'000'000'000;

void burn(uint64_t ns) {
  const uint64_t begin = sys_clock_ns(CLOCK_THREAD_CPUTIME_ID);
  while (sys_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < ns) continue;
}

// The record of the calling thread, at home and without history; freed afterwards.
struct Record {
  ThreadRecord& record = *take_record(sys_gettid());
  explicit Record(ThreadVisits& visits) {
    const int tid = record.tid.exchange(1);  // of another thread before
    visits.look(record);
    record.tid.store(tid);
    visits.look(record);
  }
  ~Record() { free_record(record); }
  void goes(Where where) const { record.where.store(where); }
};

// Checks a thread that came home at `now_ns` and whose transactions have this length from then on.
bool rests_after(ThreadVisits& visits, const Record& one, uint64_t now_ns, uint64_t length_ns) {
  one.goes(Where::Home);
  const bool rests_at_home = visits.rests(one.record, now_ns);
  one.goes(Where::Converted);
  return visits.rests(one.record, now_ns + length_ns) || rests_at_home;
}

}  // namespace

TEST_CASE("A thread that ran is distinguished from one that worked, and from one that waits") {
  ThreadVisits visits;
  const Record self(visits);
  burn(3 * kMs);
  CHECK(visits.look(self.record) == Did::Work);
  burn(100 * kUs);
  CHECK(visits.look(self.record) == Did::Little);

  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  std::atomic<int> tid{0};
  std::thread waiting([&] {
    tid = sys_gettid();
    while (sem_wait(&semaphore)) continue;
  });
  while (!tid) sched_yield();
  ThreadRecord& record = *take_record(tid);
  // Once it waits it does nothing more.
  Did did = Did::Little;
  for (int tries = 0; tries < 1'000 && did != Did::Nothing; ++tries) {
    visits.look(record);
    const timespec moment{0, 5'000'000};
    nanosleep(&moment, nullptr);
    did = visits.look(record);
  }
  CHECK(did == Did::Nothing);
  sem_post(&semaphore);
  waiting.join();
  free_record(record);
}

TEST_CASE("A thread whose transactions are short rests for a second and is tried again") {
  ThreadVisits visits;
  const Record self(visits);
  CHECK(rests_after(visits, self, kS, 5 * kUs));
  CHECK(visits.rests(self.record, kS + 500 * kMs));
  CHECK_FALSE(rests_after(visits, self, 2 * kS + kMs, 10 * kMs));
}

TEST_CASE("Its average goes on while it rests: one transaction that is a little longer does not end that") {
  ThreadVisits visits;
  const Record self(visits);
  REQUIRE(rests_after(visits, self, kS, 2 * kUs));
  CHECK(rests_after(visits, self, 3 * kS, 20 * kUs));    // 9/10 of 2 and 1/10 of 20
  CHECK(rests_after(visits, self, 5 * kS, 20 * kUs));    // 5.4
  CHECK_FALSE(rests_after(visits, self, 7 * kS, kMs));
}

TEST_CASE("A new thread in the record of one that rested does not rest") {
  ThreadVisits visits;
  const Record self(visits);
  REQUIRE(rests_after(visits, self, kS, 5 * kUs));
  REQUIRE(visits.rests(self.record, kS + 10 * kMs));
  self.record.tid.store(1);  // any thread
  visits.look(self.record);
  CHECK_FALSE(rests_after(visits, self, kS + 20 * kMs, 10 * kMs));
}

TEST_CASE("Transactions are as long as all the time since they were counted last, of whatever rounds") {
  const test::CommonPages common(1);
  ThreadVisits visits;
  const Record self(visits);
  auto& pages = const_cast<PrivatePages&>(pages_of(self.record));
  pages.begin();
  REQUIRE(pages.isolate(common.page(0)));
  REQUIRE_FALSE(rests_after(visits, self, kS, 10 * kMs));
  // It waited now and then for a minute. It worked in none of the rounds, so there was no check.
  for (int i = 0; i < 5'000; ++i) pages.commit();
  CHECK_FALSE(visits.rests(self.record, 61 * kS));
  bool rests = false;  // as soon as enough rounds had transactions of two microseconds
  for (uint64_t round = 1; round < 200 && !rests; ++round) {
    for (int i = 0; i < 5'000; ++i) pages.commit();
    rests = visits.rests(self.record, 61 * kS + round * 10 * kMs);
    CHECK((round > 30 || !rests));
  }
  CHECK(rests);
  pages.share_all();
}
