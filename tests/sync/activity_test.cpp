// Threads that wait are idle or wait for a lock; all others work.

#include "hpcrun/sync/activity.h"

#include <catch2/catch.hpp>

using namespace hpcrun;

TEST_CASE("threads that are neither idle nor wait for a lock work") {
  Activities threads;
  CHECK(threads.count(4).idle == 0);
  CHECK(threads.count(4).working == 4);
  threads.change(Activity::Works, Activity::Idles);
  threads.change(Activity::Works, Activity::WaitsForLock);
  CHECK(threads.count(4).idle == 1);
  CHECK(threads.count(4).working == 2);
  threads.end_thread(Activity::Idles);  // ended while it waited
  CHECK(threads.count(4).idle == 0);
  CHECK(threads.count(4).working == 2);
  threads.change(Activity::WaitsForLock, Activity::Works);
  CHECK(threads.count(4).working == 3);
}

TEST_CASE("whoever asks works") {
  Activities threads;
  threads.change(Activity::Works, Activity::Idles);
  CHECK(threads.count(1).working == 1);
}

TEST_CASE("threads that wait in a team are not idle once it has tasks") {
  Activities threads;
  threads.change(Activity::Works, activity_in(LockKind::Barrier, true));
  threads.change(Activity::Works, activity_in(LockKind::Barrier, false));
  CHECK(threads.count(3).idle == 2);
  threads.begin_tasks();
  CHECK(threads.count(3).idle == 1);
  CHECK(threads.count(3).working == 2);
  threads.reset_after_fork();
  CHECK_FALSE(threads.has_tasks());
  CHECK(threads.count(1).idle == 0);
}
