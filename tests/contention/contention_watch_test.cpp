// From samples to evidence to a verdict, with real threads: accesses of two threads to one line are found to
// the byte, and nothing is found if they share no line.

#include "hpcrun/contention/contention_watch.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "hpcrun/contention/profiler_data.h"
#include "hpcrun/guest/own_memory.h"
#include "hpcrun/guest/own_ranges.h"
#include "hpcrun/model/cache_line.h"
#include "tests/contention/sampled_threads.h"

using namespace hpcrun;

namespace {

constexpr double kMaxSeconds = 60;     // on a busy machine
constexpr double kQuietSeconds = 1.5;  // in which nothing must be found

struct alignas(64) Line {
  std::atomic<uint64_t> words[8];
};

Line lines[4];

[[gnu::noinline]] void count_up(void* data, const volatile bool& stop) {
  auto& word = *static_cast<std::atomic<uint64_t>*>(data);
  while (!stop) word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

[[gnu::noinline]] void add_atomically(void* data, const volatile bool& stop) {
  auto& word = *static_cast<std::atomic<uint64_t>*>(data);
  while (!stop) word.fetch_add(1, std::memory_order_relaxed);
}

[[gnu::noinline]] void read_half(void* data, const volatile bool& stop) {
  auto& word = *static_cast<std::atomic<uint32_t>*>(data);
  uint64_t sum = 0;
  while (!stop) sum += word.load(std::memory_order_relaxed);
  lines[3].words[7] = sum;
}

// Reads like unoptimised code: the pointer is loaded from the frame, and the load overwrites it.
[[gnu::noinline]] void read_unoptimised(void* data, const volatile bool& stop) {
  while (!stop) asm volatile("mov %0, %%rax\n\tmov (%%rax), %%rax" : : "m"(data) : "rax", "memory");
}

bool can_watch(const WatchedRun& run) {
  const int failure = -run.failure;
  if (failure != EACCES && failure != EPERM && failure != ENOENT && failure != EOPNOTSUPP &&
      failure != ENOSPC)
    return true;
  WARN("no hardware breakpoints here (" << strerror(failure) << "): nothing is tried");
  return false;
}

size_t seen(const WatchedRun& run, uint32_t thread) {
  return static_cast<size_t>(
      std::count_if(run.evidence.begin(), run.evidence.end(), [&](const ThreadEvidence& of) {
        return of.thread == thread && of.evidence.is_seen && of.evidence.is_exact;
      }));
}

bool both_were_seen(const WatchedRun& run) {
  return seen(run, 0) >= 6 && seen(run, 1) >= 6;
}

// Checks that every exact access of the thread is to these bytes, and of this kind.
void check_accesses(const WatchedRun& run, uint32_t thread, const void* address, uint16_t bytes,
                    AccessKind some_kind) {
  bool any_kind = false;
  for (const ThreadEvidence& of : run.evidence) {
    if (of.thread != thread || !of.evidence.is_exact) continue;
    CHECK(of.evidence.access.address == reinterpret_cast<uint64_t>(address));
    CHECK(of.evidence.access.bytes == bytes);
    any_kind |= of.evidence.access.kind == some_kind;
  }
  CHECK(any_kind);
}

Sharing verdict_of(const WatchedRun& run) {
  LineMoves moves;
  LineWindow window;
  for (const ThreadEvidence& of : run.evidence) {
    if (!of.evidence.is_exact) continue;
    const Access& access = of.evidence.access;
    window.note({of.thread, static_cast<uint8_t>(access.address % kLineBytes),
                 static_cast<uint8_t>(access.bytes), access.kind, of.evidence.time_ns, 1});
  }
  moves += window.moves(4'000'000);
  return verdict(moves, 1);
}

}  // namespace

TEST_CASE("counters side by side are found, to the byte, as false sharing") {
  const auto run = run_watched({{count_up, &lines[0].words[1]}, {count_up, &lines[0].words[6]}}, kMaxSeconds,
                               both_were_seen);
  if (!can_watch(run)) return;
  REQUIRE(both_were_seen(run));
  check_accesses(run, 0, &lines[0].words[1], 8, AccessKind::Write);
  check_accesses(run, 1, &lines[0].words[6], 8, AccessKind::Write);
  CHECK(verdict_of(run) == Sharing::False);
  CHECK(run.asked_often > 0);
}

TEST_CASE("atomic additions to one word are found as true sharing") {
  const auto run = run_watched({{add_atomically, &lines[0].words[2]}, {add_atomically, &lines[0].words[2]}},
                               kMaxSeconds, both_were_seen);
  if (!can_watch(run)) return;
  REQUIRE(both_were_seen(run));
  check_accesses(run, 0, &lines[0].words[2], 8, AccessKind::ReadWrite);
  check_accesses(run, 1, &lines[0].words[2], 8, AccessKind::ReadWrite);
  CHECK(verdict_of(run) == Sharing::True);
}

TEST_CASE("a reader beside a single writer is found") {
  const auto run = run_watched(
      {{add_atomically, &lines[1].words[0]}, {read_half, reinterpret_cast<char*>(&lines[1].words[7]) + 4}},
      kMaxSeconds, both_were_seen);
  if (!can_watch(run)) return;
  REQUIRE(both_were_seen(run));
  check_accesses(run, 0, &lines[1].words[0], 8, AccessKind::ReadWrite);
  check_accesses(run, 1, reinterpret_cast<char*>(&lines[1].words[7]) + 4, 4, AccessKind::Read);
  CHECK(verdict_of(run) == Sharing::False);
}

TEST_CASE("a reader that is compiled without optimisation is found, to the byte") {
  const auto run = run_watched({{add_atomically, &lines[1].words[0]}, {read_unoptimised, &lines[1].words[3]}},
                               kMaxSeconds, both_were_seen);
  if (!can_watch(run)) return;
  REQUIRE(both_were_seen(run));
  check_accesses(run, 1, &lines[1].words[3], 8, AccessKind::Read);
  CHECK(verdict_of(run) == Sharing::False);
}

TEST_CASE("what threads contend for in the profiler's own data is no finding") {
  alignas(64) static uint64_t own[8];
  CHECK_FALSE(is_profiler_data(reinterpret_cast<uint64_t>(own)));
  const auto start = reinterpret_cast<uint64_t>(own);
  note_profiler_data("/usr/lib/libhpc.so", start, start + sizeof own);
  CHECK_FALSE(is_profiler_data(start));
  note_profiler_data("/usr/lib/prof/libprof-locks.so", start, start + sizeof own);
  CHECK(is_profiler_data(start));
  CHECK(is_profiler_data(start + sizeof own - 1));
  CHECK_FALSE(is_profiler_data(start + sizeof own));
  auto* const mapped = static_cast<uint64_t*>(map_own_memory(sizeof own));
  REQUIRE(mapped);
  for (uint64_t* const data : {own, mapped}) {
    const auto run = run_watched({{count_up, &data[1]}, {count_up, &data[6]}}, kQuietSeconds);
    CHECK(run.samples > 10);
    CHECK(run.evidence.empty());
  }
  unmap_own_memory(mapped, sizeof own);
}

TEST_CASE("memory that the profiler mapped is its own until it is unmapped, and in children that have it") {
  constexpr size_t kBytes = 8192;
  auto* const copied = static_cast<char*>(map_own_memory(kBytes, InChild::Copy));
  auto* const left_out = static_cast<char*>(map_own_memory(kBytes, InChild::Nothing));
  REQUIRE(copied);
  REQUIRE(left_out);
  const auto is_own = [](const char* at) { return is_profiler_data(reinterpret_cast<uint64_t>(at)); };
  for (const char* const memory : {copied, left_out}) {
    CHECK(is_own(memory));
    CHECK(is_own(memory + kBytes - 1));
  }
  keep_own_ranges_of_child();
  CHECK(is_own(copied));
  CHECK_FALSE(is_own(left_out));
  unmap_own_memory(left_out, kBytes);
  unmap_own_memory(copied, kBytes);
  CHECK_FALSE(is_own(copied));
  CHECK_FALSE(is_own(left_out));
}

TEST_CASE("as many ranges of the profiler's as there is room for are known, and more do no harm") {
  constexpr uint64_t kFirst = uint64_t{1} << 50, kApart = 4096;
  const auto at = [](uint64_t i) { return reinterpret_cast<const void*>(kFirst + i * kApart); };
  for (uint64_t i = 0; i < 5000; ++i) note_own_range(at(i), 64, true);
  for (const uint64_t i : {0, 1, 3000}) {
    CHECK(is_in_own_range(kFirst + i * kApart + 63));
    CHECK_FALSE(is_in_own_range(kFirst + i * kApart + 64));
  }
  CHECK_FALSE(is_in_own_range(kFirst + 4999 * kApart));
  remove_own_range(at(3000));
  note_own_range(at(4999), 64, true);
  CHECK_FALSE(is_in_own_range(kFirst + 3000 * kApart));
  CHECK(is_in_own_range(kFirst + 4999 * kApart));
  for (uint64_t i = 0; i < 5000; ++i) remove_own_range(at(i));
  CHECK_FALSE(is_in_own_range(kFirst));
}

TEST_CASE("threads with lines of their own, or that only read, are left in peace") {
  const auto padded =
      run_watched({{count_up, &lines[0].words[0]}, {count_up, &lines[1].words[0]}}, kQuietSeconds);
  CHECK(padded.samples > 10);
  CHECK(padded.evidence.empty());
  CHECK(padded.asked_often == 0);
  const auto reading =
      run_watched({{read_half, &lines[2].words[0]}, {read_half, &lines[2].words[1]}}, kQuietSeconds);
  CHECK(reading.samples > 10);
  CHECK(reading.evidence.empty());
}
