// Tests the detector's conclusions from accesses: lines with false sharing, and the placement of each site's
// objects.

#include "repair/layout/false_sharing_detector.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSampleNs = 4 * kMs;

// The site whose allocations are aligned to 32.
constexpr uint32_t kAligned = 12;

std::set<uint32_t> closed;
std::map<uint32_t, SiteFinding> settled;
std::set<uint64_t> shared_lines;
std::map<uint64_t, PageDecision> shared_pages;

constexpr DetectorCallbacks kHost{
    [](uint32_t site) noexcept { return !closed.contains(site); },
    [](const SiteFinding& verdict) noexcept {
      settled[verdict.site] = verdict;
      closed.insert(verdict.site);
    },
    [](uint64_t line) noexcept { shared_lines.insert(line); },
    [](uint32_t site) noexcept { return site == kAligned ? uint64_t{32} : uint64_t{1}; },
    [](const PageDecision& verdict) noexcept { shared_pages[verdict.page] = verdict; }};

// Threads that each access something every 4 ms.
class Run {
 public:
  explicit Run(bool places_first = false) {
    closed.clear();
    settled.clear();
    shared_lines.clear();
    shared_pages.clear();
    DetectorCallbacks host = kHost;
    host.places_first = places_first;
    judge().start(host);
  }

  FalseSharingDetector& judge() { return *judge_; }
  uint64_t now() const { return now_ns_; }

  // Adds a sample at each of these places, after a breakpoint that makes the thread certain.
  void sample(const std::vector<SharedAccess>& accesses, bool seen = true) {
    for (SharedAccess access : accesses) {
      access.time_ns = now_ns_;
      judge_->note_time(kSampleNs);
      if (seen) judge_->note(seen_access(access));
      access.weight_ns = kSampleNs;
      judge_->note(access);
      now_ns_ += kMs / 10;
    }
    now_ns_ += kSampleNs;
  }

  // Adds time that is spent elsewhere.
  void idle(uint64_t weight_ns) { judge_->note_time(weight_ns); }

 private:
  static SharedAccess seen_access(SharedAccess access) {
    access.is_seen = true;
    return access;
  }

  struct Freed {
    void operator()(FalseSharingDetector* judge) const {
      ::operator delete (judge, std::align_val_t{alignof(FalseSharingDetector)});
    }
  };
  static FalseSharingDetector* make() {
    void* const memory =
        ::operator new (sizeof(FalseSharingDetector), std::align_val_t{alignof(FalseSharingDetector)});
    std::memset(memory, 0, sizeof(FalseSharingDetector));  // as the kernel provides it
    return static_cast<FalseSharingDetector*>(memory);
  }

  std::unique_ptr<FalseSharingDetector, Freed> judge_{make()};
  uint64_t now_ns_ = 1000 * kMs;
};

SharedAccess write_to(uint32_t thread, uint64_t address, uint32_t site, uint64_t object, uint64_t begin) {
  return {0, address, 0, object, begin, site, thread, 8, AccessKind::ReadWrite, false, true, false};
}

}  // namespace

TEST_CASE("neighbours that threads write to are parted") {
  Run run;
  for (int i = 0; i < 300; ++i)
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == Placement{64, 0, 64});
  CHECK(settled[7].chosen.conflicts == 0);
  CHECK(settled[7].conflicts >= FalseSharingDetector::kMinConflicts);
  CHECK(settled[7].line == 0x10000);
  CHECK(shared_lines == std::set<uint64_t>{0x10000});
}

TEST_CASE("where alignment alone helps, and much is lost, it is reported soon") {
  Run run;
  const uint64_t begin = run.now();
  while (run.now() < begin + 2 * FalseSharingDetector::kPlainNs)
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
  REQUIRE(settled.contains(7));
  CHECK(settled[7].conflicts >= FalseSharingDetector::kPlainConflicts);
}

TEST_CASE("all is placed once nothing is promising any more") {
  Run run;
  const auto contend = [&run](uint64_t ns) {
    const uint64_t begin = run.now();
    while (run.now() < begin + ns)
      run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
  };
  CHECK_FALSE(run.judge().has_placed_all());  // nothing else is promising either
  contend(FalseSharingDetector::kVerdictNs + 20 * kMs);
  CHECK(run.judge().is_promising());
  CHECK_FALSE(run.judge().has_placed_all());
  contend(FalseSharingDetector::kSettleNs);
  REQUIRE(settled.contains(7));
  CHECK(run.judge().has_placed_all());
  // Another site begins.
  for (int i = 0; i < 15; ++i)
    run.sample({write_to(0, 0x20010, 8, 3, 0x20010), write_to(1, 0x20030, 8, 4, 0x20030)});
  CHECK_FALSE(run.judge().has_placed_all());
}

TEST_CASE("objects that come and go in the same place are parted as well") {
  Run run;
  uint64_t object = 1;
  for (int round = 0; round < 60; ++round, object += 2)
    for (int i = 0; i < 5; ++i)
      run.sample({write_to(0, 0x10010, 7, object, 0x10010), write_to(1, 0x10030, 7, object + 1, 0x10030)});
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == Placement{64, 0, 64});
}

TEST_CASE("where threads meet inside an object an offset may part them") {
  // 3,096 bytes: the threads' halves border at byte 1,552. At the offset 48 a line starts there.
  Run run;
  for (int i = 0; i < 300; ++i)
    run.sample({write_to(0, 0x10010 + 1544, 9, 1, 0x10010), write_to(1, 0x10010 + 1552, 9, 1, 0x10010)});
  REQUIRE(settled.contains(9));
  CHECK(settled[9].chosen.placement == Placement{64, 48, 64});
}

TEST_CASE("an offset that an alignment of the program's forbids is not chosen") {
  // As above, where 48 would separate them, and where 32 does.
  Run run;
  for (int i = 0; i < 300; ++i)
    run.sample({write_to(0, 0x10020 + 1544, kAligned, 1, 0x10020),
                write_to(1, 0x10020 + 1552, kAligned, 1, 0x10020)});
  REQUIRE(settled.contains(kAligned));
  CHECK(settled[kAligned].chosen.placement == kAsAllocated);
  CHECK(settled[kAligned].chosen.conflicts == settled[kAligned].conflicts);
  Run other;
  for (int i = 0; i < 300; ++i)
    other.sample(
        {write_to(0, 0x10000 + 24, kAligned, 1, 0x10000), write_to(1, 0x10000 + 32, kAligned, 1, 0x10000)});
  REQUIRE(settled.contains(kAligned));
  CHECK(settled[kAligned].chosen.placement == Placement{64, 32, 64});
}

TEST_CASE("what no placement parts is reported, and decided once") {
  Run run;
  for (int i = 0; i < 400; ++i)
    run.sample({write_to(0, 0x10000, 7, 1, 0x10000), write_to(1, 0x10008, 7, 1, 0x10000)});
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == kAsAllocated);
  CHECK(shared_lines.size() == 1);
  const uint64_t conflicts = settled[7].conflicts;
  for (int i = 0; i < 400; ++i)
    run.sample({write_to(0, 0x10000, 7, 1, 0x10000), write_to(1, 0x10008, 7, 1, 0x10000)});
  CHECK(settled[7].conflicts == conflicts);
}

TEST_CASE("what takes much of the time is placed sooner than what takes little") {
  const auto settled_after = [](uint64_t idle_ns) {
    Run run;
    const uint64_t begin = run.now();
    while (!settled.contains(7) && run.now() < begin + 4000 * kMs) {
      run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
      run.idle(idle_ns);
    }
    REQUIRE(settled.contains(7));
    CHECK(settled[7].chosen.placement == Placement{64, 0, 64});
    return run.now() - begin;
  };
  CHECK(settled_after(0) < 300 * kMs);
  CHECK(settled_after(2 * kSampleNs * 30) >= FalseSharingDetector::kSettleNs);
}

TEST_CASE(
    "what a placement nearly helps is looked at for longer, and what none helps is not placed the sooner") {
  Run run;
  const uint64_t begin = run.now();
  // At first one of nine conflicts is within an object, which no placement separates: more than a tenth.
  // Later it is less.
  uint64_t settled_ns = 0;
  for (int i = 0; i < 900 && !settled.contains(7); ++i) {
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
    if (i % 8 == 7 && i < 160) run.sample({write_to(1, 0x10018, 7, 1, 0x10010)});
    settled_ns = run.now() - begin;
  }
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == Placement{64, 0, 64});
  CHECK(settled_ns > FalseSharingDetector::kSettleNs);

  Run other;
  const uint64_t other_begin = other.now();
  while (!settled.contains(7) && other.now() < other_begin + 4000 * kMs)
    other.sample({write_to(0, 0x10000, 7, 1, 0x10000), write_to(1, 0x10008, 7, 1, 0x10000)});
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == kAsAllocated);
  CHECK(other.now() - other_begin >= FalseSharingDetector::kSettleNs);
}

TEST_CASE("true sharing, one thread, readers, and those that come later are left alone") {
  Run run;
  SharedAccess reader = write_to(0, 0x20000, 2, 2, 0x20000),
               other_reader = write_to(1, 0x20010, 2, 3, 0x20010);
  reader.kind = other_reader.kind = AccessKind::Read;
  for (int i = 0; i < 300; ++i) {
    run.sample({write_to(0, 0x10000, 1, 1, 0x10000), write_to(1, 0x10000, 1, 1, 0x10000)});
    run.sample({reader, other_reader});
    run.sample({write_to(0, 0x30000, 3, 4, 0x30000), write_to(0, 0x30010, 3, 5, 0x30010)});
  }
  for (int i = 0; i < 300; ++i) run.sample({write_to(0, 0x40000, 4, 6, 0x40000)});
  for (int i = 0; i < 300; ++i) run.sample({write_to(1, 0x40010, 4, 7, 0x40010)});
  CHECK(settled.empty());
  CHECK(shared_lines.empty());
}

TEST_CASE("a page is reported with all that is known of it") {
  const auto judged = [](const std::vector<SharedAccess>& more) {
    Run run;
    std::vector<SharedAccess> accesses{write_to(0, 0x10010, 0, 0, 0), write_to(1, 0x10030, 0, 0, 0)};
    accesses.insert(accesses.end(), more.begin(), more.end());
    for (int i = 0; i < 300; ++i) {
      run.sample(accesses);
      run.idle(accesses.size() * kSampleNs);
    }
    REQUIRE(shared_pages.size() == 1);
    REQUIRE(shared_pages.contains(0x10000));
    return shared_pages[0x10000];
  };
  const PageDecision alone = judged({});
  CHECK_FALSE(alone.is_allocation);
  CHECK_FALSE(alone.has_locks);
  CHECK_FALSE(alone.has_true_sharing);
  CHECK(alone.share_ppm > 450'000);
  CHECK(alone.share_ppm < 550'000);

  SharedAccess locked = write_to(0, 0x10400, 0, 0, 0);
  locked.is_locked = true;
  CHECK(judged({locked}).has_locks);
  CHECK_FALSE(judged({locked}).has_true_sharing);
  CHECK(judged({write_to(0, 0x10400, 0, 0, 0), write_to(1, 0x10400, 0, 0, 0)}).has_true_sharing);

  // Another page does not matter.
  locked.address = 0x11400;
  CHECK_FALSE(
      judged({locked, write_to(0, 0x11800, 0, 0, 0), write_to(1, 0x11800, 0, 0, 0)}).has_true_sharing);
  CHECK_FALSE(judged({locked}).has_locks);
}

TEST_CASE("a word that both threads use is true sharing, however rarely one polls it") {
  Run run;
  SharedAccess polled = write_to(1, 0x10010, 0, 0, 0);
  polled.kind = AccessKind::Read;
  for (int i = 0; i < 300; ++i) {
    run.sample({write_to(0, 0x10010, 0, 0, 0), write_to(1, 0x10030, 0, 0, 0)});
    if (i % 15 == 0) run.sample({polled});
  }
  CHECK(shared_lines == std::set<uint64_t>{0x10000});  // false sharing above all
  REQUIRE(shared_pages.contains(0x10000));
  CHECK(shared_pages[0x10000].has_true_sharing);
}

TEST_CASE("of allocations a page is reported as well") {
  Run run;
  for (int i = 0; i < 300; ++i)
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
  REQUIRE(shared_pages.contains(0x10000));
  CHECK(shared_pages[0x10000].is_allocation);
}

namespace {

// Two adjacent objects in a line, which are replaced after every 20 samples, about 80 ms.
void share_line(Run& run, int samples, uint64_t address) {
  uint64_t object = run.now();  // not used by another call
  for (int i = 0; i < samples; ++i) {
    if (i % 20 == 0) object += 2;
    run.sample({write_to(0, address + 0x10, 7, object, address + 0x10),
                write_to(1, address + 0x30, 7, object + 1, address + 0x30)});
  }
}

}  // namespace

TEST_CASE("pages of allocations that can be placed are left to that") {
  Run run(true);
  // Allocations from before the decision, after half a second, are used a little longer.
  share_line(run, 250, 0x10000);
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == Placement{64, 0, 64});
  for (int i = 0; i < 600; ++i)
    run.sample({write_to(0, 0x20000, 7, 3, 0x20000), write_to(1, 0x20040, 7, 4, 0x20040)});
  CHECK(shared_pages.empty());
}

TEST_CASE("pages of allocations that lie as before their site was placed are reported") {
  Run run(true);
  share_line(run, 300, 0x10000);
  REQUIRE(settled.contains(7));
  CHECK(shared_pages.empty());
  share_line(run, 600, 0x10000);
  CHECK(shared_pages.contains(0x10000));
}

TEST_CASE(
    "pages of allocations that are there to stay are reported at once, and their site is placed for later "
    "ones") {
  Run run(true);
  for (int i = 0; i < 80; ++i)
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
  CHECK(settled[7].chosen.placement == Placement{64, 0, 64});
  CHECK(shared_pages.contains(0x10000));
}

TEST_CASE("objects that come and go in other places than those before are not there to stay") {
  Run run(true);
  for (int i = 0; i < 90; ++i) {
    // Alternates between two places in one line: neither object is the other's successor.
    const uint64_t at = i < 45 ? 0x10000 : 0x10008;
    const auto object = static_cast<uint64_t>(i < 45 ? 1 : 3);
    run.sample({write_to(0, at, 7, object, at), write_to(1, at + 0x20, 7, object + 1, at + 0x20)});
  }
  CHECK(shared_pages.empty());
}

TEST_CASE("pages of allocations that no placement helps are reported, and those of variables at once") {
  Run run(true);
  for (int i = 0; i < 400; ++i)
    run.sample({write_to(0, 0x10000, 7, 1, 0x10000), write_to(1, 0x10008, 7, 1, 0x10000)});
  REQUIRE(settled.contains(7));
  CHECK(settled[7].chosen.placement == kAsAllocated);
  CHECK(shared_pages.contains(0x10000));
  Run other(true);
  for (int i = 0; i < 150; ++i) other.sample({write_to(0, 0x10000, 0, 0, 0), write_to(1, 0x10008, 0, 0, 0)});
  CHECK(shared_pages.contains(0x10000));
}

TEST_CASE("threads that were not seen at the line do not count, nor what is unknown of an access") {
  Run run;
  SharedAccess vague = write_to(1, 0x20020, 8, 4, 0x20020);
  vague.is_usable = false;
  for (int i = 0; i < 300; ++i) {
    run.sample({write_to(0, 0x10000, 7, 1, 0x10000)});
    run.sample({write_to(1, 0x10020, 7, 2, 0x10020)}, false);
    run.sample({write_to(0, 0x20000, 8, 3, 0x20000), vague});
  }
  CHECK(settled.empty());
}

TEST_CASE("what takes little of the time is not worth a change") {
  Run run;
  for (int i = 0; i < 300; ++i) {
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
    run.idle(2 * kSampleNs * 60);
  }
  CHECK(settled.empty());
}

TEST_CASE("of variables the line is reported, and of locks that there are some") {
  Run run;
  SharedAccess lock = write_to(0, 0x20000, 5, 1, 0x20000), other_lock = write_to(1, 0x20020, 5, 2, 0x20020);
  lock.is_locked = other_lock.is_locked = true;
  for (int i = 0; i < 300; ++i) {
    run.sample({write_to(0, 0x10000, 0, 0, 0), write_to(1, 0x10008, 0, 0, 0)});
    run.sample({lock, other_lock});
  }
  CHECK(shared_lines == std::set<uint64_t>{0x10000, 0x20000});
  REQUIRE(settled.contains(5));
  CHECK(settled[5].has_locks);
  CHECK_FALSE(settled.contains(0));
}

TEST_CASE("more lines and sites than there is room for cost only themselves") {
  Run run;
  for (int i = 0; i < 300; ++i) {
    run.sample({write_to(0, 0x10010, 7, 1, 0x10010), write_to(1, 0x10030, 7, 2, 0x10030)});
    for (uint64_t n = 0; n < 20; ++n) {
      const uint64_t at = 0x100000 + (static_cast<uint64_t>(i) * 20 + n) * 64;
      run.sample({write_to(2, at, static_cast<uint32_t>(100 + n), at, at)});
    }
  }
  CHECK(settled.size() <= 1);
  for (const auto& [site, verdict] : settled) CHECK(site == 7);
}

TEST_CASE("threads that come while another is at work are left out and counted") {
  Run run;
  std::atomic<uint64_t> noted{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (uint64_t n = 0; n < 20'000; ++n) {
        SharedAccess access = write_to(i, 0x10000 + i * 16, 7, 1 + i, 0x10000 + i * 16);
        access.time_ns = 1000 * kMs + n * kMs / 100;
        access.is_seen = true;
        run.judge().note(access);
        ++noted;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(noted == 80'000);
  CHECK(run.judge().dropped() < 80'000);
}
