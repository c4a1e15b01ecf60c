#include "hpcrun/contention/peer_freeze.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "hpcrun/guest/clock.h"

using hpcrun::Hold;
using hpcrun::monotonic_ns;

namespace {

constexpr uint64_t kLine = 0x1000, kOtherLine = 0x1040;

void wait_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a thread at the line stays until the one that asked lets it go") {
  Hold hold;
  hold.ask(kLine, 1, 1, monotonic_ns());
  CHECK(hold.is_for(1));
  CHECK_FALSE(hold.is_for(2));
  CHECK_FALSE(hold.stay(kOtherLine, 2, monotonic_ns()));
  CHECK_FALSE(hold.stay(kLine, 1, monotonic_ns()));  // not the thread that requested it
  std::atomic<bool> gone{false}, comes{false};
  std::thread other([&] {
    comes = true;
    CHECK(hold.stay(kLine, 2, monotonic_ns()));
    gone = true;
  });
  wait_until(comes);
  uint64_t since = monotonic_ns();
  while (!hold.lasted(since, since) && !hold.is_over(since)) since = monotonic_ns();
  if (!hold.is_over(monotonic_ns())) {  // a busy machine may take longer
    CHECK_FALSE(hold.was_free(since));
    hold.release(monotonic_ns());
  }
  other.join();
  CHECK(gone);
  CHECK_FALSE(hold.was_free(since));
  CHECK(hold.was_free(monotonic_ns() + Hold::kLongestNs));
}

TEST_CASE("nobody stays longer than a hold lasts, though nobody lets go") {
  Hold hold;
  const uint64_t begin = monotonic_ns();
  hold.ask(kLine, 1, 1, begin);
  CHECK(hold.stay(kLine, 2, monotonic_ns()));
  CHECK(monotonic_ns() >= begin + Hold::kLongestNs);
  CHECK(hold.is_over(monotonic_ns()));
  CHECK_FALSE(hold.stay(kLine, 2, monotonic_ns()));
  // A much later request replaces one that has ended.
  hold.ask(kLine, 3, 1, begin + 3 * Hold::kLongestNs);
  CHECK(hold.is_for(3));
}

TEST_CASE("it lasts from when all others are held") {
  Hold hold;
  const uint64_t begin = monotonic_ns();
  hold.ask(kLine, 1, 2, begin);
  std::thread second([&] { hold.stay(kLine, 2, begin + 100); });
  std::thread third([&] { hold.stay(kLine, 3, begin + 200); });
  second.join();
  third.join();
  CHECK_FALSE(hold.lasted(begin + 50, begin + 300));
  CHECK(hold.lasted(begin + 200, begin + 300));
  CHECK_FALSE(hold.lasted(begin + 200, begin + Hold::kLongestNs));
  hold.release(begin + Hold::kLongestNs);
}

TEST_CASE("between holds there is rest, and after stop() there are none") {
  Hold hold;
  uint64_t now = monotonic_ns();
  hold.ask(kLine, 1, 1, now);
  hold.release(now);
  CHECK_FALSE(hold.is_for(1));
  hold.ask(kLine, 1, 1, now + Hold::kRestNs - 1);
  CHECK_FALSE(hold.is_for(1));
  hold.ask(kLine, 1, 1, now + Hold::kRestNs);
  CHECK(hold.is_for(1));
  hold.stop();
  CHECK_FALSE(hold.is_for(1));
  CHECK_FALSE(hold.stay(kLine, 2, monotonic_ns()));
  hold.ask(kLine, 1, 1, now + 1000 * Hold::kLongRestNs);
  CHECK_FALSE(hold.is_for(1));
}
