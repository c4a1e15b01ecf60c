#include "hpcrun/contention/peer_freeze.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <thread>

#include "hpcrun/guest/clock.h"

using hpcrun::monotonic_ns;
using hpcrun::PeerFreeze;

namespace {

constexpr uint64_t kLine = 0x1000, kOtherLine = 0x1040;

void wait_until(const std::atomic<bool>& flag) {
  while (!flag) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a thread at the line stays until the one that asked lets it go") {
  PeerFreeze freeze;
  freeze.ask(kLine, 1, 1, monotonic_ns());
  CHECK(freeze.is_for(1));
  CHECK_FALSE(freeze.is_for(2));
  CHECK_FALSE(freeze.stay(kOtherLine, 2, monotonic_ns()));
  CHECK_FALSE(freeze.stay(kLine, 1, monotonic_ns()));  // not the thread that requested it
  std::atomic<bool> gone{false}, comes{false};
  std::thread other([&] {
    comes = true;
    CHECK(freeze.stay(kLine, 2, monotonic_ns()));
    gone = true;
  });
  wait_until(comes);
  uint64_t since = monotonic_ns();
  while (!freeze.lasted(since, since) && !freeze.is_over(since)) since = monotonic_ns();
  if (!freeze.is_over(monotonic_ns())) {  // a busy machine may take longer
    CHECK_FALSE(freeze.was_free(since));
    freeze.release(monotonic_ns());
  }
  other.join();
  CHECK(gone);
  CHECK_FALSE(freeze.was_free(since));
  CHECK(freeze.was_free(monotonic_ns() + PeerFreeze::kMaxNs));
}

TEST_CASE("nobody stays longer than a hold lasts, though nobody lets go") {
  PeerFreeze freeze;
  const uint64_t begin = monotonic_ns();
  freeze.ask(kLine, 1, 1, begin);
  CHECK(freeze.stay(kLine, 2, monotonic_ns()));
  CHECK(monotonic_ns() >= begin + PeerFreeze::kMaxNs);
  CHECK(freeze.is_over(monotonic_ns()));
  CHECK_FALSE(freeze.stay(kLine, 2, monotonic_ns()));
  // A much later request replaces one that has ended.
  freeze.ask(kLine, 3, 1, begin + 3 * PeerFreeze::kMaxNs);
  CHECK(freeze.is_for(3));
}

TEST_CASE("it lasts from when all others are held") {
  PeerFreeze freeze;
  const uint64_t begin = monotonic_ns();
  freeze.ask(kLine, 1, 2, begin);
  std::thread second([&] { freeze.stay(kLine, 2, begin + 100); });
  std::thread third([&] { freeze.stay(kLine, 3, begin + 200); });
  second.join();
  third.join();
  CHECK_FALSE(freeze.lasted(begin + 50, begin + 300));
  CHECK(freeze.lasted(begin + 200, begin + 300));
  CHECK_FALSE(freeze.lasted(begin + 200, begin + PeerFreeze::kMaxNs));
  freeze.release(begin + PeerFreeze::kMaxNs);
}

TEST_CASE("between holds there is rest, and after stop() there are none") {
  PeerFreeze freeze;
  uint64_t now = monotonic_ns();
  freeze.ask(kLine, 1, 1, now);
  freeze.release(now);
  CHECK_FALSE(freeze.is_for(1));
  freeze.ask(kLine, 1, 1, now + PeerFreeze::kRestNs - 1);
  CHECK_FALSE(freeze.is_for(1));
  freeze.ask(kLine, 1, 1, now + PeerFreeze::kRestNs);
  CHECK(freeze.is_for(1));
  freeze.stop();
  CHECK_FALSE(freeze.is_for(1));
  CHECK_FALSE(freeze.stay(kLine, 2, monotonic_ns()));
  freeze.ask(kLine, 1, 1, now + 1000 * PeerFreeze::kLongRestNs);
  CHECK_FALSE(freeze.is_for(1));
}
