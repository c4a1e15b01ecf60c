// From the rings of memory-sampling hardware to the report: two threads use adjacent words, as Intel's PEBS
// and AMD's IBS would record it. The program is this test, whose code and variable the records name.

#include <link.h>
#include <linux/perf_event.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "analysis/analyze/run_analyze.h"
#include "analysis/database/database.h"
#include "hpcrun/cct/access_stream.h"
#include "hpcrun/contention/contention_watch.h"
#include "hpcrun/contention/sampled_access.h"
#include "hpcrun/model/instruction.h"
#include "tests/analysis/attribution/elf_probe.h"
#include "tests/analysis/database/run_text.h"
#include "tests/analysis/pipeline/measured_program.h"
#include "tests/sample/synthetic_ring.h"

namespace {

using namespace prof;
using namespace prof::test;
using namespace hpcrun;
using Json = nlohmann::json;

struct alignas(64) Meter {
  uint64_t hits;
  uint32_t misses;
  uint32_t retries;
};

Meter meter;

[[gnu::noinline]] void note_hit(uint64_t by) {
  __atomic_fetch_add(&meter.hits, by, __ATOMIC_RELAXED);
}

[[gnu::noinline]] void note_miss(uint32_t by) {
  __atomic_fetch_add(&meter.misses, by, __ATOMIC_RELAXED);
}

size_t read_own(const void*, uint64_t address, void* to, size_t bytes) noexcept {
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return bytes;
}
constexpr MemoryReader kOwn{read_own, nullptr};

// Returns the first instruction from there on that writes memory.
uint64_t first_store(uint64_t at) {
  for (int i = 0; i < 16; ++i) {
    uint8_t bytes[kMaxInstructionBytes];
    read_own(nullptr, at, bytes, sizeof bytes);
    Instruction instruction;
    REQUIRE(decode(bytes, sizeof bytes, at, instruction));
    if (instruction.memory_count > 0 && writes(instruction.memory[0].kind)) return at;
    at += instruction.length;
  }
  FAIL("no store");
  return 0;
}

uint64_t own_load_bias() {
  uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uint64_t*>(out) = info->dlpi_addr;
        return 1;
      },
      &bias);
  return bias;
}

// One run: a measurement, and the threads that write the results of the watch to it.
class HardwareRun {
 public:
  HardwareRun(const std::filesystem::path& file, ContentionSource source) : recorder_(file) {
    current = this;
    const std::string program = std::filesystem::read_symlink("/proc/self/exe");
    const uint64_t bias = own_load_bias();
    const std::vector<uint8_t> id = build_id(program);
    recorder_.file.write_module(kModule, program.c_str(), bias, bias + (uint64_t{1} << 30), bias, id.data(),
                                static_cast<uint32_t>(id.size()));
    recorder_.file.counter(Counter::LooksForContention) = static_cast<uint64_t>(source);
    for (uint32_t thread = 0; thread < 2; ++thread) {
      RecordedThread& made = recorder_.add_thread();
      recorder_.file.write_thread_start(thread, static_cast<int>(100 + thread), kStartMonotonic, "meter");
      REQUIRE(streams_[thread].attach(recorder_.file, made.arena, thread));
    }
    REQUIRE(watch_->start({no_tid, report, report_progress, kOwn, true}, 0));
  }

  // Processes the contents of a ring of the thread.
  void take(uint32_t thread, SyntheticRing& ring, MemoryEvent event) {
    WatchedThread watched{};
    watched.index = thread;
    MemoryRing records = ring.ring();
    SampledAccess decoded{};
    for (MemoryRecord record; records.next(record);)
      if (decode_access(record, event, kOwn, decoded)) watch_->sampled_access(watched, decoded);
  }

  void finish() {
    for (AccessStream& stream : streams_) stream.seal();
    recorder_.finish();
  }

 private:
  static int no_tid(uint32_t) noexcept { return 0; }
  static void report_progress(uint32_t, uint64_t, uint64_t, const hpcrun::Progress&) noexcept {}
  static void report(uint32_t thread, const Evidence& evidence) noexcept {
    const FrameKey frame = make_frame(kModule, evidence.access.instruction - own_load_bias());
    const NodeId node = current->recorder_.threads[thread].tree.insert(&frame, 1);
    const AccessRecord record{
        evidence.time_ns,
        evidence.weight_ns,
        evidence.access.address,
        evidence.access.bytes,
        static_cast<uint64_t>(evidence.access.kind) | kAccessSeen | (evidence.is_exact ? kAccessExact : 0),
        0};
    current->streams_[thread].append(record, evidence.hardware, node);
  }

  static inline HardwareRun* current = nullptr;
  Recorder recorder_;
  AccessStream streams_[2];
  std::unique_ptr<ContentionWatch> watch_ = std::make_unique<ContentionWatch>();
};

constexpr uint64_t kPeriod = 5'000, kCycles = 200;
constexpr uint64_t kRecords = 50;  // of each thread, in one second

void record_meter(HardwareRun& run, MemoryEvent event, uint64_t source, uint64_t period = kPeriod) {
  const uint64_t hit = first_store(reinterpret_cast<uint64_t>(&note_hit));
  const uint64_t miss = first_store(reinterpret_cast<uint64_t>(&note_miss));
  for (uint64_t i = 0; i < kRecords; ++i) {
    const uint64_t now = kStartMonotonic + i * 20 * kMillisecond;
    SyntheticRing first(512), second(512);
    first.add({hit, now, reinterpret_cast<uint64_t>(&meter.hits), period, kCycles, source, true, true});
    second.add_other(PERF_RECORD_LOST, 24);
    second.add({miss, now + kMillisecond, reinterpret_cast<uint64_t>(&meter.misses), period, kCycles, source,
                true, true});
    run.take(0, first, event);
    run.take(1, second, event);
  }
}

Json contention_of(const std::filesystem::path& directory) {
  const Analysis analysis = analyze({directory});
  CHECK(analysis.warnings.empty());
  return run_of(analysis.database)["contention"];
}

void check_is_of_meter(const Json& found, const char* source) {
  REQUIRE(found.size() == 1);
  const Json& data = found[0];
  CHECK(data["source"] == source);
  CHECK(data["sharing"] == "false");
  CHECK(data["name"].get<std::string>().find("meter") != std::string::npos);
  CHECK(data["lines"] == 1);
  CHECK(data["transfers"] == 2 * kRecords * kPeriod);
  CHECK(data["transfers_per_s"].get<double>() == Approx(2 * kRecords * kPeriod));
  CHECK(data["hitm"] == 2 * kRecords * kPeriod);
  CHECK(data["latency_cycles"] == 2 * kRecords * kPeriod * kCycles);
  REQUIRE(data["sides"].size() == 2);
  for (const Json& side : data["sides"]) {
    const bool is_first = side["offset"] == 0;
    CHECK(side["place"] == (is_first ? ".hits" : ".misses"));
    CHECK(side["offset"] == (is_first ? 0 : 8));
    CHECK(side["bytes"] == (is_first ? 8 : 4));
    CHECK(side["access"] == "reads and writes");
    CHECK(side["accesses"] == kRecords * kPeriod);
  }
}

constexpr uint64_t kHitmOfIbs = PERF_MEM_OP_LOAD |
                                uint64_t{PERF_MEM_LVL_L3 | PERF_MEM_LVL_HIT} << PERF_MEM_LVL_SHIFT |
                                uint64_t{PERF_MEM_SNOOP_HITM} << PERF_MEM_SNOOP_SHIFT;
constexpr uint64_t kOwnCacheOfIbs = PERF_MEM_OP_LOAD |
                                    uint64_t{PERF_MEM_LVL_L1 | PERF_MEM_LVL_HIT} << PERF_MEM_LVL_SHIFT |
                                    uint64_t{PERF_MEM_SNOOP_NA} << PERF_MEM_SNOOP_SHIFT;

}  // namespace

TEST_CASE("what PEBS recorded is a finding with its variable, both sides and the rate of transfers") {
  const TemporaryDirectory directory;
  HardwareRun run(directory / "a.prof", ContentionSource::Pebs);
  record_meter(run, MemoryEvent::ModifiedLoads, PERF_MEM_OP_LOAD);
  run.finish();
  check_is_of_meter(contention_of(directory.path()), "Intel PEBS");
}

TEST_CASE("what IBS recorded is one as well") {
  const TemporaryDirectory directory;
  HardwareRun run(directory / "a.prof", ContentionSource::Ibs);
  record_meter(run, MemoryEvent::Operations, kHitmOfIbs);
  run.finish();
  check_is_of_meter(contention_of(directory.path()), "AMD IBS");
}

TEST_CASE("lines that stay in each core's own caches, or seldom move, are no finding") {
  const TemporaryDirectory quiet;
  {
    HardwareRun run(quiet / "a.prof", ContentionSource::Ibs);
    record_meter(run, MemoryEvent::Operations, kOwnCacheOfIbs);
    run.finish();
  }
  CHECK(contention_of(quiet.path()).empty());
  const TemporaryDirectory seldom;
  {
    HardwareRun run(seldom / "a.prof", ContentionSource::Pebs);
    record_meter(run, MemoryEvent::ModifiedLoads, PERF_MEM_OP_LOAD, 2);
    run.finish();
  }
  CHECK(contention_of(seldom.path()).empty());
}

TEST_CASE("a thread that stores is a side where another one's loads met its line") {
  const TemporaryDirectory directory;
  HardwareRun run(directory / "a.prof", ContentionSource::Pebs);
  const uint64_t hit = first_store(reinterpret_cast<uint64_t>(&note_hit));
  for (uint64_t i = 0; i < kRecords; ++i) {
    const uint64_t now = kStartMonotonic + i * 20 * kMillisecond;
    SyntheticRing loads(512), stores(512);
    MemoryRecord load{0, now, reinterpret_cast<uint64_t>(&meter.retries), kPeriod, kCycles, 0, false, true};
    loads.add(load);
    stores.add({hit, now + 1'000, reinterpret_cast<uint64_t>(&meter.hits), kPeriod, 0, 0, true, true});
    run.take(0, loads, MemoryEvent::ForwardedLoads);
    run.take(1, stores, MemoryEvent::Stores);
  }
  run.finish();
  const Json found = contention_of(directory.path());
  REQUIRE(found.size() == 1);
  CHECK(found[0]["sharing"] == "false");
  CHECK(found[0]["transfers"] == kRecords * kPeriod);
  CHECK(found[0]["hitm"] == 0);  // the records do not say if the line was modified
  std::map<uint64_t, std::string> done;
  for (const Json& side : found[0]["sides"]) done[side["offset"]] = side["access"];
  // The first byte of the load, whose instruction is not known exactly.
  CHECK(done == std::map<uint64_t, std::string>{{0, "reads and writes"}, {12, "reads"}});
}
