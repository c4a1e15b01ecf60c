// Rings of memory samples as the kernel writes them, and malformed ones.

#include "hpcrun/sample/memory_ring.h"

#include <linux/perf_event.h>
#include <catch2/catch.hpp>

#include <cstring>
#include <vector>

#include "tests/sample/synthetic_ring.h"

using namespace hpcrun;
using prof::test::SyntheticRing;

namespace {

MemoryRecord numbered(uint64_t number) {
  return {
      0x401000 + number, 10 * number, 0x7000 + number, 100 + number, 200 + number, 300 + number, true, true};
}

void check_is(const MemoryRecord& record, uint64_t number) {
  const MemoryRecord expected = numbered(number);
  CHECK(record.ip == expected.ip);
  CHECK(record.time_ns == expected.time_ns);
  CHECK(record.address == expected.address);
  CHECK(record.period == expected.period);
  CHECK(record.weight == expected.weight);
  CHECK(record.data_source == expected.data_source);
  CHECK(record.is_exact);
  CHECK(record.is_user);
}

}  // namespace

TEST_CASE("records come out once, in order, with all that is known of them") {
  SyntheticRing memory(4096);
  MemoryRing ring = memory.ring();
  MemoryRecord record;
  CHECK_FALSE(ring.next(record));
  for (uint64_t i = 1; i <= 3; ++i) memory.add(numbered(i));
  for (uint64_t i = 1; i <= 3; ++i) {
    REQUIRE(ring.next(record));
    check_is(record, i);
  }
  CHECK_FALSE(ring.next(record));
  CHECK(memory.left() == 0);
}

TEST_CASE("records that go on at the begin of the ring are whole") {
  SyntheticRing memory(512);  // room for nine records and 8 bytes
  MemoryRing ring = memory.ring();
  MemoryRecord record;
  for (uint64_t i = 1; i <= 1000; ++i) {
    memory.add(numbered(i));
    REQUIRE(ring.next(record));
    check_is(record, i);
    REQUIRE_FALSE(ring.next(record));
  }
}

TEST_CASE("what was made in the kernel, and whose instruction is not exact, is distinguished") {
  SyntheticRing memory(4096);
  MemoryRing ring = memory.ring();
  MemoryRecord of_kernel = numbered(1);
  of_kernel.is_user = false;
  MemoryRecord skidded = numbered(2);
  skidded.is_exact = false;
  memory.add(of_kernel);
  memory.add(skidded);
  MemoryRecord record;
  REQUIRE(ring.next(record));
  CHECK_FALSE(record.is_user);
  CHECK(record.is_exact);
  REQUIRE(ring.next(record));
  CHECK(record.is_user);
  CHECK_FALSE(record.is_exact);
}

TEST_CASE("losses, throttling, records of other kinds and of other fields are stepped over") {
  SyntheticRing memory(4096);
  MemoryRing ring = memory.ring();
  memory.add_other(PERF_RECORD_LOST, 24);
  memory.add(numbered(1));
  memory.add_other(PERF_RECORD_THROTTLE, 32);
  memory.add_other(PERF_RECORD_UNTHROTTLE, 32);
  memory.add_other(4711, 8);
  memory.add_other(PERF_RECORD_SAMPLE, 48);  // one field less
  memory.add_other(PERF_RECORD_SAMPLE, 64);  // one field more
  memory.add(numbered(2));
  memory.add_other(PERF_RECORD_LOST, 24);
  MemoryRecord record;
  REQUIRE(ring.next(record));
  check_is(record, 1);
  REQUIRE(ring.next(record));
  check_is(record, 2);
  CHECK_FALSE(ring.next(record));
  CHECK(memory.left() == 0);
}

TEST_CASE("behind a size that cannot be nothing is read, and what comes later is found again") {
  for (const uint16_t size : {uint16_t{0}, uint16_t{7}, uint16_t{65'535}}) {
    SyntheticRing memory(4096);
    MemoryRing ring = memory.ring();
    memory.add_damaged(PERF_RECORD_SAMPLE, size);
    memory.add(numbered(1));
    MemoryRecord record;
    CHECK_FALSE(ring.next(record));
    CHECK(memory.left() == 0);
    memory.add(numbered(2));
    REQUIRE(ring.next(record));
    check_is(record, 2);
  }
}

TEST_CASE("a ring whose positions cannot be is empty") {
  SyntheticRing memory(4096);
  MemoryRing ring = memory.ring();
  memory.set_positions(100'000, 8);
  MemoryRecord record;
  CHECK_FALSE(ring.next(record));
  memory.set_positions(8, 4);  // less than a header
  CHECK_FALSE(ring.next(record));
  memory.set_positions(8, 16);  // the end precedes the start
  CHECK_FALSE(ring.next(record));
  memory.add(numbered(5));
  REQUIRE(ring.next(record));
  check_is(record, 5);
}

TEST_CASE("a ring that is not mapped has no records, and what is no event's cannot be mapped") {
  MemoryRing ring;
  MemoryRecord record;
  CHECK_FALSE(ring.is_mapped());
  CHECK_FALSE(ring.next(record));
  CHECK(ring.map(-1) < 0);
  CHECK_FALSE(ring.is_mapped());
  ring.unmap();
}
