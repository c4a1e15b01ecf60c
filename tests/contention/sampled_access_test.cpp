// Tests the decoding of records of memory-sampling hardware, and which of them are evidence of contention.

#include "hpcrun/contention/sampled_access.h"

#include <linux/perf_event.h>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "hpcrun/contention/contention_watch.h"

using namespace hpcrun;

namespace {

constexpr uint64_t kCode = 0x401000;
constexpr uint64_t kData = 0x7f0000001040;  // begins a line

// Code that exists only in these bytes.
struct Code {
  std::vector<uint8_t> bytes;

  MemoryReader reader() const { return {read, this}; }
  static size_t read(const void* context, uint64_t address, void* to, size_t bytes) noexcept {
    const auto& code = static_cast<const Code*>(context)->bytes;
    if (address < kCode || address >= kCode + code.size()) return 0;
    const size_t count = std::min<size_t>(bytes, kCode + code.size() - address);
    std::memcpy(to, code.data() + (address - kCode), count);
    return count;
  }
};

const Code kAddDword{{0x83, 0x40, 0x04, 0x01}};         // add dword [rax+4], 1
const Code kLoadQword{{0x48, 0x8b, 0x07}};              // mov rax, [rdi]
const Code kStoreWord{{0x66, 0x89, 0x07}};              // mov [rdi], ax
const Code kLockedAdd{{0xf0, 0x48, 0x0f, 0xc1, 0x07}};  // lock xadd [rdi], rax
const Code kCopy{{0xa4}};                               // movsb
const Code kNothing{{0x90}};                            // nop
constexpr uint64_t kHitm = PERF_MEM_OP_LOAD |
                           uint64_t{PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT} << PERF_MEM_LVL_SHIFT |
                           uint64_t{PERF_MEM_SNOOP_HITM} << PERF_MEM_SNOOP_SHIFT;
constexpr uint64_t kOwnHit = PERF_MEM_OP_LOAD |
                             uint64_t{PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT} << PERF_MEM_LVL_SHIFT |
                             uint64_t{PERF_MEM_SNOOP_NONE} << PERF_MEM_SNOOP_SHIFT;
constexpr uint64_t kSharedHit = PERF_MEM_OP_LOAD |
                                uint64_t{PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT} << PERF_MEM_LVL_SHIFT |
                                uint64_t{PERF_MEM_SNOOP_NA} << PERF_MEM_SNOOP_SHIFT;
constexpr uint64_t kNoAccess = PERF_MEM_OP_NA;

MemoryRecord at(uint64_t address, uint64_t source = 0) {
  return {kCode, 5'000, address, 1'000, 250, source, true, true};
}

SampledAccess decoded(const Code& code, const MemoryRecord& record, MemoryEvent event) {
  SampledAccess out{};
  REQUIRE(decode_access(record, event, code.reader(), out));
  return out;
}

void check_shape(const Code& code, MemoryEvent event, uint16_t bytes, AccessKind kind) {
  const SampledAccess access = decoded(code, at(kData), event);
  CHECK(access.is_exact);
  CHECK(access.access.address == kData);
  CHECK(access.access.bytes == bytes);
  CHECK(access.access.kind == kind);
}

// Collects reports, in place of a watch with threads.
struct Reported {
  uint32_t thread;
  Evidence evidence;
};
std::vector<Reported> reported;

int no_tid(uint32_t) noexcept {
  return 0;
}
void keep(uint32_t thread, const Evidence& evidence) noexcept {
  reported.push_back({thread, evidence});
}
void keep_progress(uint32_t, uint64_t, uint64_t, const Progress&) noexcept {}

class SampledWatch {
 public:
  SampledWatch() {
    reported.clear();
    REQUIRE(watch_->start({no_tid, keep, keep_progress, kNothing.reader(), true}, 0));
  }
  // Each thread has a stack of 1 MiB, one after the other.
  void sample(uint32_t thread, const Code& code, const MemoryRecord& record, MemoryEvent event) {
    WatchedThread watched{};
    watched.index = thread;
    watched.stack_low = 0x7ffe00000000 + thread * 0x100000;
    watched.stack_high = watched.stack_low + 0x100000;
    watch_->sampled_access(watched, decoded(code, record, event));
  }

 private:
  std::unique_ptr<ContentionWatch> watch_ = std::make_unique<ContentionWatch>();
};

}  // namespace

TEST_CASE("width and kind of an access are those of its instruction") {
  check_shape(kAddDword, MemoryEvent::ModifiedLoads, 4, AccessKind::ReadWrite);
  check_shape(kAddDword, MemoryEvent::Stores, 4, AccessKind::ReadWrite);
  check_shape(kLoadQword, MemoryEvent::ModifiedLoads, 8, AccessKind::Read);
  check_shape(kStoreWord, MemoryEvent::Stores, 2, AccessKind::Write);
  check_shape(kCopy, MemoryEvent::ModifiedLoads, 1, AccessKind::Read);
  check_shape(kCopy, MemoryEvent::Stores, 1, AccessKind::Write);
  CHECK(decoded(kLockedAdd, at(kData), MemoryEvent::ModifiedLoads).access.is_locked);
  CHECK_FALSE(decoded(kAddDword, at(kData), MemoryEvent::ModifiedLoads).access.is_locked);
}

TEST_CASE("where the instruction does not say it, the first byte is known alone") {
  MemoryRecord skidded = at(kData);
  skidded.is_exact = false;
  MemoryRecord elsewhere = at(kData);
  elsewhere.ip = kCode + 4096;  // not readable
  for (const auto& [code, record, event, kind] :
       {std::tuple{kLoadQword, skidded, MemoryEvent::ModifiedLoads, AccessKind::Read},
        std::tuple{kStoreWord, elsewhere, MemoryEvent::Stores, AccessKind::Write},
        std::tuple{kNothing, at(kData), MemoryEvent::ModifiedLoads, AccessKind::Read},
        std::tuple{kLoadQword, at(kData), MemoryEvent::Stores, AccessKind::Write}}) {
    const SampledAccess access = decoded(code, record, event);
    CHECK_FALSE(access.is_exact);
    CHECK(access.access.address == kData);
    CHECK(access.access.bytes == 1);
    CHECK(access.access.kind == kind);
  }
}

TEST_CASE("what an event counts is known, whatever its records say of their source") {
  constexpr uint32_t kModified = kLoadReportsSnoops | kLoadFromPeer | kLoadModified;
  CHECK(decoded(kLoadQword, at(kData), MemoryEvent::ModifiedLoads).hardware.load_bits == kModified);
  CHECK(decoded(kLoadQword, at(kData), MemoryEvent::RemoteModifiedLoads).hardware.load_bits ==
        (kModified | kLoadRemote));
  CHECK(decoded(kLoadQword, at(kData), MemoryEvent::ForwardedLoads).hardware.load_bits ==
        (kLoadReportsSnoops | kLoadFromPeer));
  CHECK(decoded(kStoreWord, at(kData), MemoryEvent::Stores).hardware.load_bits == 0);
  CHECK(decoded(kLoadQword, at(kData, kOwnHit), MemoryEvent::Loads).hardware.load_bits == kLoadReportsSnoops);
  CHECK(decoded(kLoadQword, at(kData, kHitm), MemoryEvent::Loads).hardware.load_bits ==
        (kModified | kLoadFromSharedCache));
  CHECK(decoded(kLoadQword, at(kData, kHitm), MemoryEvent::Operations).hardware.load_bits ==
        (kModified | kLoadFromSharedCache));
  CHECK(decoded(kStoreWord, at(kData, PERF_MEM_OP_STORE), MemoryEvent::Operations).hardware.load_bits == 0);
  CHECK(decoded(kLoadQword, at(kData), MemoryEvent::ModifiedLoads).hardware.period == 1'000);
  CHECK(decoded(kLoadQword, at(kData), MemoryEvent::ModifiedLoads).hardware.cycles == 250);
}

TEST_CASE("what is no access to the program's memory tells nothing") {
  SampledAccess ignored{};
  MemoryRecord of_kernel = at(kData);
  of_kernel.is_user = false;
  CHECK_FALSE(decode_access(of_kernel, MemoryEvent::ModifiedLoads, kLoadQword.reader(), ignored));
  CHECK_FALSE(decode_access(at(0), MemoryEvent::ModifiedLoads, kLoadQword.reader(), ignored));
  for (const uint64_t source : {kNoAccess, uint64_t{PERF_MEM_OP_PFETCH}, uint64_t{PERF_MEM_OP_EXEC}})
    CHECK_FALSE(decode_access(at(kData, source), MemoryEvent::Operations, kLoadQword.reader(), ignored));
}

TEST_CASE("periods and weights that cannot be are bounded") {
  MemoryRecord record = at(kData);
  record.period = 0;
  record.weight = UINT64_MAX;
  CHECK(decoded(kLoadQword, record, MemoryEvent::ModifiedLoads).hardware.period == 1);
  CHECK(decoded(kLoadQword, record, MemoryEvent::ModifiedLoads).hardware.cycles == UINT32_MAX);
  record.period = UINT64_MAX;
  CHECK(decoded(kLoadQword, record, MemoryEvent::ModifiedLoads).hardware.period < uint64_t{1} << 63);
}

TEST_CASE("loads that fetched a line from another core are evidence, with what hardware recorded") {
  SampledWatch watch;
  watch.sample(3, kAddDword, at(kData + 4), MemoryEvent::ModifiedLoads);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].thread == 3);
  const Evidence& evidence = reported[0].evidence;
  CHECK(evidence.is_seen);
  CHECK(evidence.is_exact);
  CHECK(evidence.access.address == kData + 4);
  CHECK(evidence.access.instruction == kCode);
  CHECK(evidence.time_ns == 5'000);
  CHECK(evidence.weight_ns == 0);
  CHECK(evidence.hardware.period == 1'000);
}

TEST_CASE("other accesses are evidence at lines that were fetched lately, and nowhere else") {
  SampledWatch watch;
  watch.sample(0, kStoreWord, at(kData + 8), MemoryEvent::Stores);
  watch.sample(1, kLoadQword, at(kData, kOwnHit), MemoryEvent::Operations);
  CHECK(reported.empty());
  watch.sample(1, kLoadQword, at(kData), MemoryEvent::ModifiedLoads);
  REQUIRE(reported.size() == 1);
  watch.sample(0, kStoreWord, at(kData + 8), MemoryEvent::Stores);
  watch.sample(0, kStoreWord, at(kData + 64), MemoryEvent::Stores);
  REQUIRE(reported.size() == 2);
  CHECK(reported[1].evidence.access.address == kData + 8);
  MemoryRecord late = at(kData + 8);
  late.time_ns += SuspectLines::kSeenNs;
  watch.sample(0, kStoreWord, late, MemoryEvent::Stores);
  CHECK(reported.size() == 2);
}

TEST_CASE("lines from shared caches count while nothing better is known of them") {
  SampledWatch watch;
  watch.sample(0, kLoadQword, at(kData, kSharedHit), MemoryEvent::Operations);
  REQUIRE(reported.size() == 1);
  CHECK(reported[0].evidence.hardware.load_bits == kLoadFromSharedCache);
}

TEST_CASE("a thread's own stack and addresses beyond the program's are left out") {
  SampledWatch watch;
  watch.sample(0, kLoadQword, at(0x7ffe00000800), MemoryEvent::ModifiedLoads);
  watch.sample(0, kLoadQword, at(16), MemoryEvent::ModifiedLoads);
  watch.sample(0, kLoadQword, at(uint64_t{1} << 63), MemoryEvent::ModifiedLoads);
  CHECK(reported.empty());
}

TEST_CASE("a thread's own stack counts where others are there") {
  SampledWatch watch;
  watch.sample(1, kLoadQword, at(0x7ffe00000800), MemoryEvent::ModifiedLoads);
  watch.sample(0, kLoadQword, at(0x7ffe00000808), MemoryEvent::ModifiedLoads);
  watch.sample(0, kLoadQword, at(0x7ffe00000840), MemoryEvent::ModifiedLoads);
  REQUIRE(reported.size() == 2);
  CHECK(reported[1].thread == 0);
}
