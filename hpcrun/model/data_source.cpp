#include "hpcrun/model/data_source.h"

#include <linux/perf_event.h>

namespace hpcrun {

namespace {

using Operation = DataSource::Operation;
using Origin = DataSource::Origin;

// A field of union perf_mem_data_src: its first bit and its width. Defined by hand, because the layout of bit
// fields depends on the compiler, and because the kernel has added fields over time.
struct Field {
  unsigned first, bits;
  uint64_t in(uint64_t source) const noexcept { return source >> first & ((uint64_t{1} << bits) - 1); }
};
constexpr Field kOperation{0, 5}, kLevels{5, 14}, kSnoop{19, 5}, kLock{24, 2}, kLevelNumber{33, 4},
    kRemote{37, 1}, kSnoopMore{38, 2}, kBlocked{40, 3}, kHops{43, 3};

// Level numbers that newer kernels use, and that the headers at compile time may lack.
constexpr uint64_t kLevelMissBuffer = 0x05, kLevelMemorySideCache = 0x06, kLevelUncached = 0x08,
                   kLevelCxl = 0x09;

constexpr uint64_t kRemoteCaches = PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2;
constexpr uint64_t kMemories = PERF_MEM_LVL_LOC_RAM | PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2;

Operation operation_of(uint64_t bits) noexcept {
  if (bits & PERF_MEM_OP_PFETCH) return Operation::Prefetch;
  if (bits & PERF_MEM_OP_LOAD) return Operation::Load;
  if (bits & PERF_MEM_OP_STORE) return Operation::Store;
  return bits & PERF_MEM_OP_EXEC ? Operation::Execute : Operation::Unknown;
}

// Decodes the older field, with one bit per level.
Origin origin_of_levels(uint64_t levels) noexcept {
  if (levels & kRemoteCaches) return Origin::RemoteCache;
  if (levels & PERF_MEM_LVL_L3) return Origin::SharedCache;
  if (levels & (PERF_MEM_LVL_L1 | PERF_MEM_LVL_LFB | PERF_MEM_LVL_L2)) return Origin::OwnCaches;
  if (levels & kMemories) return Origin::Memory;
  return levels & (PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC) ? Origin::Elsewhere : Origin::Unknown;
}

// Decodes the newer field, a number.
Origin origin_of_number(uint64_t level) noexcept {
  switch (level) {
    case PERF_MEM_LVLNUM_L1:
    case PERF_MEM_LVLNUM_L2:
    case PERF_MEM_LVLNUM_LFB:
    case kLevelMissBuffer:
      return Origin::OwnCaches;
    case PERF_MEM_LVLNUM_L3:
    case PERF_MEM_LVLNUM_L4:
    case PERF_MEM_LVLNUM_ANY_CACHE:
      return Origin::SharedCache;
    case PERF_MEM_LVLNUM_RAM:
    case PERF_MEM_LVLNUM_PMEM:
    case kLevelMemorySideCache:
    case kLevelCxl:
      return Origin::Memory;
    case PERF_MEM_LVLNUM_IO:
    case kLevelUncached:
      return Origin::Elsewhere;
    default:
      return Origin::Unknown;
  }
}

}  // namespace

DataSource decode_data_source(uint64_t bits) noexcept {
  const uint64_t levels = kLevels.in(bits), snoop = kSnoop.in(bits), more = kSnoopMore.in(bits);
  DataSource source;
  source.operation = operation_of(kOperation.in(bits));
  source.origin = origin_of_levels(levels);
  if (source.origin == Origin::Unknown) source.origin = origin_of_number(kLevelNumber.in(bits));
  const bool by_remote_bit = kRemote.in(bits) && kHops.in(bits) != PERF_MEM_HOPS_0;
  if (by_remote_bit && source.origin == Origin::SharedCache) source.origin = Origin::RemoteCache;
  source.missed = (levels & PERF_MEM_LVL_MISS) != 0;
  source.reports_snoops = more != 0 || (snoop & ~uint64_t{PERF_MEM_SNOOP_NA}) != 0;
  source.was_modified = (snoop & PERF_MEM_SNOOP_HITM) != 0;
  source.came_from_peer = (more & PERF_MEM_SNOOPX_PEER) != 0;
  source.is_remote = by_remote_bit || (levels & kRemoteCaches) != 0;
  source.is_locked = (kLock.in(bits)&PERF_MEM_LOCK_LOCKED) != 0;
  source.was_blocked = (kBlocked.in(bits) & ~uint64_t{PERF_MEM_BLK_NA}) != 0;
  return source;
}

}  // namespace hpcrun
