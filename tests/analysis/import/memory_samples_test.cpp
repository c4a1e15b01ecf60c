// Recordings of memory accesses to contended data. What processors report, given byte by byte, for variables
// and instructions of this test program.

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "analysis/views/run/run_summary.h"
#include "tests/analysis/database/rules.h"
#include "tests/analysis/import/imported.h"
#include "tests/analysis/import/perf_writer.h"

using namespace prof;
using namespace prof::test;

// Instructions to sample, and data for them.
extern "C" {
extern const char sampled_load4, sampled_store8, sampled_increment8, sampled_add_registers;
struct alignas(64) SampledCounters {
  uint64_t hits, misses;
  uint32_t flags[4];
};
SampledCounters sampled_counters[2];
}
asm(R"(
.pushsection .text
.globl sampled_load4, sampled_store8, sampled_increment8, sampled_add_registers
sampled_load4: movl (%rdi), %eax
sampled_store8: movq %rax, (%rdi)
sampled_increment8: lock incq (%rdi)
sampled_add_registers: addq %rax, %rdx
ret
.popsection
)");

namespace {

constexpr uint16_t kExact = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP;
constexpr uint64_t kLoadHit = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, HIT);
constexpr uint64_t kModifiedHere = kLoadHit | PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, HITM);
constexpr uint64_t kModifiedThere = kLoadHit | PERF_MEM_S(LVL, REM_CCE1) | PERF_MEM_S(SNOOP, HITM);
constexpr uint64_t kSharedCache = kLoadHit | PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, NONE);
constexpr uint64_t kSharedCacheOfZen3 = kLoadHit | PERF_MEM_S(LVL, L3) | PERF_MEM_S(SNOOP, NA);
constexpr uint64_t kFirstLevel = kLoadHit | PERF_MEM_S(LVL, L1) | PERF_MEM_S(SNOOP, NONE);
constexpr uint64_t kStore = PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT);

constexpr uint64_t kSamples = 50, kPeriod = 1000, kLatency = 250;
constexpr uint64_t kTenMilliseconds = 10'000'000;
constexpr double kSeconds = 0.49;  // between the first and the last of 50

uint64_t at(const void* place) {
  return reinterpret_cast<uint64_t>(place);
}

// An access that a thread is sampled at repeatedly.
struct Seen {
  int32_t tid;
  const void* instruction;
  uint64_t address;
  uint64_t source;
  uint16_t misc = kExact;
  uint64_t samples = kSamples;
  uint64_t event = 0;
  int32_t pid = 100;
};

class MemoryRecording {
 public:
  explicit MemoryRecording(const std::string& event = "cpu/mem-loads,ldlat=30/P",
                           const std::string& processor = "GenuineIntel,6,85,7")
      : writer_(PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC) {
    writer_.event(event, PERF_TYPE_RAW, 0x1cd);
    std::array<char, 256> host{};
    REQUIRE(gethostname(host.data(), host.size() - 1) == 0);
    writer_.host(host.data());
    writer_.processor(processor);
    for (const int32_t pid : {100, 200}) map_this_program(pid);
  }

  void add(const Seen& seen) {
    for (uint64_t i = 0; i < seen.samples; ++i)
      writer_.sample({.mode = seen.misc,
                      .ip = at(seen.instruction),
                      .pid = seen.pid,
                      .tid = seen.tid,
                      .time = 1000 + i * kTenMilliseconds,
                      .event = seen.event,
                      .period = kPeriod,
                      .address = seen.address,
                      .weight = kLatency,
                      .data_source = seen.source});
  }

  void map_data(uint64_t start, uint64_t bytes, const std::string& path) {
    writer_.map(100, start, bytes, 0, path, 2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA);
  }

  Import import() const { return import_text(writer_.file()); }
  std::string file() const { return writer_.file(); }

 private:
  void map_this_program(int32_t pid) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      uint64_t start = 0, end = 0, offset = 0;
      std::array<char, 5> rights{};
      if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx", &start, &end, rights.data(), &offset) == 4 &&
          rights[2] == 'x' && line.ends_with(self))
        writer_.map(pid, start, end - start, offset, self, 1);
    }
  }

  PerfWriter writer_;
};

RunSummary summary_of(const Import& import) {
  CHECK(broken_rule(import.database).empty());
  RunSummary run = run_summary(import.database);
  CHECK(run.looked_for_contention);
  return run;
}

std::vector<ContendedRecord> contention_in(const MemoryRecording& recording) {
  return summary_of(recording.import()).contention;
}

bool warns(const Import& import, std::string_view part) {
  return std::ranges::any_of(
      import.warnings, [part](const std::string& line) { return line.find(part) != std::string::npos; });
}

const uint64_t kHits = at(&sampled_counters[0].hits), kMisses = at(&sampled_counters[0].misses);

}  // namespace

TEST_CASE("atomic counters on one line are false sharing of the variable, by member and byte") {
  MemoryRecording recording;
  recording.add({100, &sampled_increment8, kHits, kModifiedHere});
  recording.add({101, &sampled_increment8, kMisses, kModifiedThere});
  const auto found = contention_in(recording);
  REQUIRE(found.size() == 1);
  CHECK(found[0].sharing == hpcrun::Sharing::False);
  CHECK(found[0].name == "sampled_counters");
  CHECK(found[0].kind == DataKind::Variable);
  CHECK(found[0].source == EvidenceSource::PebsByPerf);
  CHECK(found[0].process == 100);
  CHECK(found[0].lines == 1);
  REQUIRE(found[0].sides.size() == 2);
  for (const ContendedRecord::Side& side : found[0].sides) {
    CHECK(side.access == hpcrun::AccessKind::ReadWrite);
    CHECK(side.bytes == 8);
    CHECK(side.offset == (side.profile == 0 ? 0 : 8));
    CHECK(side.place == (side.profile == 0 ? "[0].hits" : "[0].misses"));
    CHECK(side.accesses == kSamples * kPeriod);
  }
}

TEST_CASE("each sample stands for its period") {
  MemoryRecording recording;
  recording.add({100, &sampled_increment8, kHits, kModifiedHere});
  recording.add({101, &sampled_increment8, kMisses, kModifiedThere});
  const ContendedRecord found = contention_in(recording).at(0);
  CHECK(found.transfers == 2 * kSamples * kPeriod);
  CHECK(found.hitm == found.transfers);
  CHECK(found.remote_hitm == kSamples * kPeriod);
  CHECK(found.transfers_per_s == Approx(2 * kSamples * kPeriod / kSeconds));
  CHECK(found.latency_cycles == Approx(2.0 * kSamples * kPeriod * kLatency));
}

TEST_CASE("a reader beside a writer shares falsely, also where the stores tell no source") {
  MemoryRecording recording;
  recording.add({100, &sampled_load4, at(&sampled_counters[1].flags[2]), kModifiedHere});
  recording.add({101, &sampled_store8, at(&sampled_counters[1].misses), PERF_MEM_S(OP, STORE)});
  const auto found = contention_in(recording);
  REQUIRE(found.size() == 1);
  CHECK(found[0].sharing == hpcrun::Sharing::False);
  REQUIRE(found[0].sides.size() == 2);
  const auto& reader = found[0].sides[found[0].sides[0].profile == 0 ? 0 : 1];
  CHECK(reader.access == hpcrun::AccessKind::Read);
  CHECK(reader.bytes == 4);
  CHECK(reader.place == "[1].flags[2]");
}

TEST_CASE("threads that use the same bytes share truly, and partly the same bytes as well") {
  for (const uint64_t second : {kHits, kHits + 4}) {
    MemoryRecording recording;
    recording.add({100, &sampled_load4, second, kModifiedHere});
    recording.add({101, &sampled_store8, kHits, kStore});
    const auto found = contention_in(recording);
    REQUIRE(found.size() == 1);
    CHECK(found[0].sharing == hpcrun::Sharing::True);
    CHECK(found[0].remedy == Remedy::CopyPerThread);
  }
}

TEST_CASE("what stays in each core's own caches is no contention, and neither is what all only read") {
  MemoryRecording recording;
  recording.add({100, &sampled_increment8, kHits, kFirstLevel});
  recording.add({101, &sampled_increment8, at(&sampled_counters[1].hits), kFirstLevel});
  recording.add({100, &sampled_load4, kMisses, kSharedCache});
  recording.add({101, &sampled_load4, kMisses, kSharedCache});
  CHECK(contention_in(recording).empty());
}

TEST_CASE("a line that moved a few times is none that threads contend for") {
  MemoryRecording recording;
  recording.add({100, &sampled_increment8, kHits, kFirstLevel});
  recording.add({101, &sampled_increment8, kMisses, kFirstLevel});
  recording.add({101, &sampled_increment8, kMisses, kModifiedHere, kExact, 3});
  CHECK(contention_in(recording).empty());
}

TEST_CASE("where the processor tells nothing of other caches, lines from shared ones count") {
  MemoryRecording recording("ibs_op//", "AuthenticAMD,25,1,1");
  recording.add({100, &sampled_increment8, kHits, kSharedCacheOfZen3});
  recording.add({101, &sampled_increment8, kMisses, kSharedCacheOfZen3});
  const auto found = contention_in(recording);
  REQUIRE(found.size() == 1);
  CHECK(found[0].source == EvidenceSource::IbsByPerf);
  CHECK(found[0].transfers == 2 * kSamples * kPeriod);
  CHECK(found[0].hitm == 0);
}

TEST_CASE("an event that counts nothing but modified lines says it by its name") {
  MemoryRecording recording("mem_load_l3_hit_retired.xsnp_hitm:pp", "");
  recording.add({100, &sampled_increment8, kHits, 0});
  recording.add({101, &sampled_increment8, kMisses, 0});
  const auto found = contention_in(recording);
  REQUIRE(found.size() == 1);
  CHECK(found[0].source == EvidenceSource::PebsByPerf);
  CHECK(found[0].hitm == 2 * kSamples * kPeriod);
}

TEST_CASE("of an instruction that is not at hand, or not exactly known, only the first byte counts") {
  MemoryRecording recording;
  recording.add({100, &sampled_load4, kHits + 4, kModifiedHere, PERF_RECORD_MISC_USER});
  recording.add({101, &sampled_store8, kHits, kStore, PERF_RECORD_MISC_USER});
  const Import import = recording.import();
  const auto found = summary_of(import).contention;
  REQUIRE(found.size() == 1);
  CHECK(found[0].sides[0].bytes == 1);
  CHECK(found[0].sharing == hpcrun::Sharing::False);  // from the known data
  CHECK(warns(import, "the sizes of 100 of 100 memory accesses are not known"));
}

TEST_CASE("an instruction that does not do what was sampled says nothing of its width") {
  MemoryRecording recording;
  recording.add({100, &sampled_store8, kHits, kModifiedHere});
  recording.add({101, &sampled_add_registers, kMisses, kStore});
  const auto found = contention_in(recording);
  REQUIRE(found.size() == 1);
  for (const ContendedRecord::Side& side : found[0].sides) CHECK(side.bytes == 1);
}

TEST_CASE("samples without an address of the program and prefetches are left out") {
  MemoryRecording recording;
  recording.add({100, &sampled_load4, 0, kModifiedHere});
  recording.add({101, &sampled_load4, 0xffff888000000040, kModifiedHere});
  recording.add({101, &sampled_load4, kHits, kModifiedHere | PERF_MEM_S(OP, PFETCH)});
  recording.add({101, &sampled_add_registers, kHits, PERF_MEM_S(OP, NA)});
  const Import import = recording.import();
  CHECK(summary_of(import).contention.empty());
  CHECK(warns(import, "none of its 150 memory samples has an address in a program"));
}

TEST_CASE("lines whose writer was not recorded are reported, and what to record") {
  MemoryRecording recording;
  recording.add({100, &sampled_load4, kHits, kModifiedHere});
  recording.add({101, &sampled_load4, kMisses, kModifiedHere});
  const Import import = recording.import();
  CHECK(summary_of(import).contention.empty());
  CHECK(
      warns(import, "1 cache line came from other caches, but no other thread wrote there in the recording"));
}

TEST_CASE("processes have lines of their own at the same address") {
  MemoryRecording recording;
  recording.add({.tid = 100, .instruction = &sampled_increment8, .address = kHits, .source = kModifiedHere});
  recording.add({.tid = 200,
                 .instruction = &sampled_increment8,
                 .address = kMisses,
                 .source = kModifiedHere,
                 .pid = 200});
  CHECK(contention_in(recording).empty());
}

TEST_CASE("memory of no variable is named by its address and mapping, a finding for each line") {
  MemoryRecording recording;
  recording.map_data(0x20000, 0x1000, "[heap]");
  recording.map_data(0x10000, 0x1000, "//anon");
  for (const uint64_t line : {0x10000, 0x20000}) {
    recording.add({100, &sampled_increment8, line, kModifiedHere});
    recording.add({101, &sampled_increment8, line + 32, kModifiedHere});
  }
  const auto found = contention_in(recording);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == DataKind::Unknown);
  for (const ContendedRecord& one : found) CHECK(one.name == (one.address == 0x20000 ? "[heap]" : ""));
  CHECK(found[0].address + found[1].address == 0x30000);
  CHECK(found[0].remedy == Remedy::AlignObjects);
  CHECK(found[0].sides[0].offset + found[0].sides[1].offset == 32);
  CHECK(found[0].sides[0].line_offset + found[0].sides[1].line_offset == 32);
}

TEST_CASE("weights that have parts give the latency, whatever else a sample carries") {
  const Import import = import_text(memory_recording().file());
  const ContendedRecord found = summary_of(import).contention.at(0);
  CHECK(found.sharing == hpcrun::Sharing::False);
  CHECK(found.transfers == 40 * 5000);
  CHECK(found.latency_cycles == 40 * 5000 * 300.0);
}

TEST_CASE("a recording without memory accesses was not looked at for contention") {
  CHECK_FALSE(run_summary(import_text(small_recording().file()).database).looked_for_contention);
}

TEST_CASE("samples that have an address and no source are none of memory accesses") {
  MemoryRecording recording("page-faults");
  recording.add(
      {100, &sampled_load4, kHits, PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) | PERF_MEM_S(SNOOP, NA)});
  recording.add({101, &sampled_store8, kMisses, 0});
  const Import import = recording.import();
  CHECK_FALSE(run_summary(import.database).looked_for_contention);
  CHECK(import.warnings.empty());
}

TEST_CASE("call chains begin at the instruction that accessed, not where the interrupt came") {
  constexpr uint64_t kUser = static_cast<uint64_t>(PERF_CONTEXT_USER);
  constexpr uint64_t kKernel = static_cast<uint64_t>(PERF_CONTEXT_KERNEL);
  PerfWriter writer;
  writer.event("cycles:pp", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  writer.map(100, 0x400000, 0x1000, 0, "/opt/app", 1);
  writer.map(100, 0x500000, 0x1000, 0, "/opt/library", 1);
  writer.sample(
      {.mode = kExact, .ip = 0x500010, .time = 10, .period = 2, .chain = {kUser, 0x400100, 0x400200}});
  writer.sample({.mode = kExact,
                 .ip = 0x500010,
                 .time = 20,
                 .period = 3,
                 .chain = {kKernel, 0xffffffff81000000, kUser, 0x400100, 0x400200}});
  CHECK(points(import_text(writer.file()).database) ==
        std::map<std::string, double>{{"main thread/[app]/[library]", 2},
                                      {"main thread/[app]/[app]/[kernel]", 3}});
}

TEST_CASE("damaged numbers in memory samples make no broken database") {
  const std::string whole = memory_recording().file();
  std::mt19937 random(11);
  for (int turn = 0; turn < 200; ++turn) {
    std::string file = whole;
    for (int i = 0; i < 20; ++i)
      file[400 + random() % (file.size() - 400)] = static_cast<char>(random() % 256);
    try {
      CHECK(broken_rule(import_text(file).database).empty());
    } catch (const ImportError& error) {
      CHECK(error.kind() != ImportError::Kind::CannotOpen);
    }
  }
}
