// Data sources as kernels write them for existing processors.

#include "hpcrun/model/data_source.h"

#include <linux/perf_event.h>

#include <catch2/catch.hpp>

using namespace hpcrun;
using Operation = DataSource::Operation;
using Origin = DataSource::Origin;

namespace {

constexpr uint64_t at(uint64_t value, unsigned shift) {
  return value << shift;
}
constexpr uint64_t kLoad = PERF_MEM_OP_LOAD, kStore = PERF_MEM_OP_STORE;
constexpr uint64_t level(uint64_t bits) {
  return at(bits, PERF_MEM_LVL_SHIFT);
}
constexpr uint64_t number(uint64_t value) {
  return at(value, PERF_MEM_LVLNUM_SHIFT);
}
constexpr uint64_t snoop(uint64_t bits) {
  return at(bits, PERF_MEM_SNOOP_SHIFT);
}
constexpr uint64_t kRemote = at(1, 37);
constexpr uint64_t hops(uint64_t count) {
  return at(count, PERF_MEM_HOPS_SHIFT);
}

struct Case {
  const char* what;
  uint64_t bits;
  Origin origin;
  bool reports_snoops, was_modified, is_remote;
};

// According to arch/x86/events/intel/ds.c and arch/x86/events/amd/ibs.c.
const Case kLoads[] = {
    {"Intel: first level",
     kLoad | level(PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT) | number(1) | snoop(PERF_MEM_SNOOP_NONE),
     Origin::OwnCaches, true, false, false},
    {"Intel: fill buffer",
     kLoad | level(PERF_MEM_LVL_LFB | PERF_MEM_LVL_HIT) | number(PERF_MEM_LVLNUM_LFB) |
         snoop(PERF_MEM_SNOOP_NONE),
     Origin::OwnCaches, true, false, false},
    {"Intel: third level, nobody asked",
     kLoad | level(PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT) | number(3) | snoop(PERF_MEM_SNOOP_NONE),
     Origin::SharedCache, true, false, false},
    {"Intel: third level, another core had it clean",
     kLoad | level(PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT) | number(3) | snoop(PERF_MEM_SNOOP_HIT),
     Origin::SharedCache, true, false, false},
    {"Intel: third level, another core had it modified",
     kLoad | level(PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT) | number(3) | snoop(PERF_MEM_SNOOP_HITM),
     Origin::SharedCache, true, true, false},
    {"Intel: another socket had it modified",
     kLoad | level(PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_HIT) | number(3) | kRemote |
         snoop(PERF_MEM_SNOOP_HITM),
     Origin::RemoteCache, true, true, true},
    {"Intel: memory here",
     kLoad | level(PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_HIT) | number(PERF_MEM_LVLNUM_RAM) |
         snoop(PERF_MEM_SNOOP_MISS),
     Origin::Memory, true, false, false},
    {"Intel: uncached", kLoad | level(PERF_MEM_LVL_UNC | PERF_MEM_LVL_HIT) | snoop(PERF_MEM_SNOOP_NONE),
     Origin::Elsewhere, true, false, false},
    {"AMD, Zen 2 and 4: a cache of the same complex, modified",
     kLoad | level(PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT) | number(3) | snoop(PERF_MEM_SNOOP_HITM),
     Origin::SharedCache, true, true, false},
    {"AMD, Zen 3: the same, of which it says no more",
     kLoad | level(PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT) | number(3) | snoop(PERF_MEM_SNOOP_NA),
     Origin::SharedCache, false, false, false},
    {"AMD, Zen 4: another complex of the node",
     kLoad | level(PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_HIT) | number(PERF_MEM_LVLNUM_ANY_CACHE) | kRemote |
         hops(PERF_MEM_HOPS_0) | snoop(PERF_MEM_SNOOP_HITM),
     Origin::RemoteCache, true, true, true},
    {"AMD, Zen 4: another socket, by the number alone",
     kLoad | number(PERF_MEM_LVLNUM_ANY_CACHE) | kRemote | hops(PERF_MEM_HOPS_1) | snoop(PERF_MEM_SNOOP_HITM),
     Origin::RemoteCache, true, true, true},
    {"AMD: another core of the node, by the number alone",
     kLoad | number(PERF_MEM_LVLNUM_ANY_CACHE) | kRemote | hops(PERF_MEM_HOPS_0) | snoop(PERF_MEM_SNOOP_HITM),
     Origin::SharedCache, true, true, false},
    {"extension memory", kLoad | number(9) | kRemote | snoop(PERF_MEM_SNOOP_NA), Origin::Memory, false, false,
     true},
    {"nothing is known",
     kLoad | level(PERF_MEM_LVL_NA) | number(PERF_MEM_LVLNUM_NA) | snoop(PERF_MEM_SNOOP_NA), Origin::Unknown,
     false, false, false},
};

}  // namespace

TEST_CASE("a load's source says whose cache it came from, and whether it was modified there") {
  for (const Case& one : kLoads) {
    INFO(one.what);
    const DataSource source = decode_data_source(one.bits);
    CHECK(source.operation == Operation::Load);
    CHECK(source.origin == one.origin);
    CHECK(source.reports_snoops == one.reports_snoops);
    CHECK(source.was_modified == one.was_modified);
    CHECK(source.is_transfer() == one.was_modified);
    CHECK(source.is_remote == one.is_remote);
  }
}

TEST_CASE("a line that a peer forwards is a transfer, modified or not") {
  const DataSource source =
      decode_data_source(kLoad | number(2) | at(PERF_MEM_SNOOPX_PEER, PERF_MEM_SNOOPX_SHIFT));
  CHECK(source.is_transfer());
  CHECK(source.reports_snoops);
  CHECK_FALSE(source.was_modified);
}

TEST_CASE("what is no load is reported as what it is") {
  CHECK(decode_data_source(kStore | level(PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS)).operation ==
        Operation::Store);
  CHECK(decode_data_source(kStore | level(PERF_MEM_LVL_L1 | PERF_MEM_LVL_MISS)).missed);
  CHECK(decode_data_source(kLoad | PERF_MEM_OP_PFETCH).operation == Operation::Prefetch);
  CHECK(decode_data_source(PERF_MEM_OP_EXEC).operation == Operation::Execute);
  CHECK(decode_data_source(PERF_MEM_OP_NA).operation == Operation::Unknown);
  CHECK(decode_data_source(0).operation == Operation::Unknown);
}

TEST_CASE("locks and blocks are reported") {
  CHECK(decode_data_source(kLoad | at(PERF_MEM_LOCK_LOCKED, PERF_MEM_LOCK_SHIFT)).is_locked);
  CHECK_FALSE(decode_data_source(kLoad | at(PERF_MEM_LOCK_NA, PERF_MEM_LOCK_SHIFT)).is_locked);
  CHECK(decode_data_source(kLoad | at(PERF_MEM_BLK_DATA, PERF_MEM_BLK_SHIFT)).was_blocked);
  CHECK_FALSE(decode_data_source(kLoad | at(PERF_MEM_BLK_NA, PERF_MEM_BLK_SHIFT)).was_blocked);
}
