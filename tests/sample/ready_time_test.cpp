#include <catch2/catch.hpp>

#include "hpcrun/sample/run_queue.h"

using hpcrun::ReadyTime;

TEST_CASE("time in the run queue counts from the start on, once") {
  ReadyTime ready;
  ready.start(1'000);
  CHECK(ready.advance(1'700, 5'000, 5'000) == 700);
  CHECK(ready.advance(1'700, 6'000, 6'000) == 0);
  CHECK(ready.advance(2'000, 7'000, 7'000) == 300);
}

TEST_CASE("a handler that was preempted before it read the sum leaves that time to the next sample") {
  ReadyTime ready;
  // 500 of the 600 since the start passed between the sample and the reading.
  CHECK(ready.advance(600, 10'000, 10'500) == 100);
  CHECK(ready.advance(650, 11'000, 11'000) == 550);
}

TEST_CASE("nothing is returned twice or before it was there") {
  ReadyTime ready;
  CHECK(ready.advance(300, 10'000, 10'500) == 0);
  CHECK(ready.advance(300, 11'000, 11'000) == 300);
  CHECK(ready.advance(200, 12'000, 12'000) == 0);  // a sum that shrinks belonged to another thread
  CHECK(ready.advance(300, 13'000, 13'000) == 0);
  CHECK(ready.advance(400, 14'000, 13'000) == 100);  // read before that
}
