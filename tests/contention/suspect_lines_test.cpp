// Which lines threads contend for: each visit is compared with the previous visits.

#include "hpcrun/contention/suspect_lines.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace hpcrun;

namespace {

constexpr uint64_t kMs = 1'000'000;

std::unique_ptr<SuspectLines> started() {
  auto lines = std::make_unique<SuspectLines>();
  REQUIRE(lines->start());
  return lines;
}

}  // namespace

TEST_CASE("two threads meet at a line where one writes") {
  const auto lines = started();
  Meeting meeting;
  CHECK_FALSE(lines->visit({0x1000, 1, 0x01, true, 1000 * kMs}, meeting));
  CHECK_FALSE(lines->visit({0x1000, 1, 0x02, false, 1004 * kMs}, meeting));
  REQUIRE(lines->visit({0x1000, 2, 0x80, false, 1005 * kMs}, meeting));
  CHECK(meeting.thread == 1);
  CHECK(meeting.words == 0x03);
  CHECK(meeting.count == 1);
  REQUIRE(lines->visit({0x1000, 1, 0x01, false, 1008 * kMs}, meeting));
  CHECK(meeting.thread == 2);
  CHECK(meeting.words == 0x80);
  CHECK(meeting.count == 2);
  lines->settle(0x1000);
  REQUIRE(lines->visit({0x1000, 2, 0x80, true, 1010 * kMs}, meeting));
  CHECK(meeting.count == 1);
}

TEST_CASE("readers alone, other lines and other times are no meetings") {
  const auto lines = started();
  Meeting meeting;
  CHECK_FALSE(lines->visit({0x1000, 1, 1, false, 1000 * kMs}, meeting));
  CHECK_FALSE(lines->visit({0x1000, 2, 2, false, 1001 * kMs}, meeting));
  CHECK_FALSE(lines->visit({0x1040, 3, 1, true, 1002 * kMs}, meeting));
  CHECK_FALSE(lines->visit({0x2000, 1, 1, true, 1000 * kMs}, meeting));
  CHECK_FALSE(lines->visit({0x2000, 2, 1, true, 1000 * kMs + SuspectLines::kTogetherNs + kMs}, meeting));
}

TEST_CASE("whether others were at a line is known without a visit") {
  const auto lines = started();
  CHECK_FALSE(lines->has_others(0x1000, 1, 1000 * kMs));
  Meeting meeting;
  lines->visit({0x1000, 2, 1, false, 1000 * kMs}, meeting);
  CHECK(lines->has_others(0x1000, 1, 1001 * kMs));
  CHECK_FALSE(lines->has_others(0x1000, 2, 1001 * kMs));
  CHECK_FALSE(lines->has_others(0x1040, 1, 1001 * kMs));
  CHECK_FALSE(lines->has_others(0x1000, 1, 1001 * kMs + SuspectLines::kTogetherNs));
}

TEST_CASE("of many visitors the last are remembered") {
  const auto lines = started();
  Meeting meeting;
  for (uint32_t thread = 0; thread < 100; ++thread) {
    const bool met = lines->visit({0x1000, thread, 1, true, (1000 + 2 * thread) * kMs}, meeting);
    CHECK(met == (thread > 0));
    if (met) CHECK(meeting.thread == thread - 1);
  }
}

TEST_CASE("lines that nobody visits give their places to others") {
  const auto lines = started();
  Meeting meeting;
  std::map<uint64_t, int> met;
  for (uint64_t round = 0; round < 20; ++round) {
    const uint64_t now = (1000 + round * 1000) * kMs;
    for (uint64_t line = 0; line < 1000; ++line) {
      const uint64_t address = (round * 1000 + line) * kLineBytes + 0x10000;
      lines->visit({address, 1, 1, true, now}, meeting);
      met[round] += lines->visit({address, 2, 2, true, now + kMs}, meeting);
    }
  }
  for (const auto& [round, count] : met) CHECK(count > 900);
  const uint64_t before = lines->lost();
  for (uint64_t line = 0; line < 100'000; ++line)
    lines->visit({line * kLineBytes, 1, 1, true, 60'000 * kMs}, meeting);
  CHECK(lines->lost() > before + 90'000);
}

TEST_CASE("threads visit at once") {
  const auto lines = started();
  std::atomic<uint64_t> meetings{0};
  const auto work = [&](uint32_t thread) {
    std::mt19937 random(thread);
    Meeting meeting;
    for (uint64_t i = 0; i < 200'000; ++i) {
      const uint64_t line = random() % 64 * kLineBytes;
      if (lines->visit({line, thread, static_cast<uint8_t>(1u << thread), true, 1000 * kMs + i * 1000},
                       meeting)) {
        ++meetings;
        if (meeting.thread == thread || !meeting.words) meetings = UINT64_MAX / 2;
      }
    }
  };
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 3; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  CHECK(meetings > 100'000);
  CHECK(meetings < 600'000);
}

TEST_CASE("without memory nothing is suspected") {
  SuspectLines lines;
  Meeting meeting;
  CHECK_FALSE(lines.visit({0x1000, 1, 1, true, 1}, meeting));
  lines.settle(0x1000);
}
