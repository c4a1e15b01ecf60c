#include "repair/isolate/pages/private_pages.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>

#include "repair/isolate/pages/own_pages.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

}  // namespace

TEST_CASE("What is stored on a private page is seen by others when both have committed, and not before") {
  const CommonPages common(2);
  auto* const data = common.at<volatile uint64_t>(0);
  data[5] = 5;
  pthread_barrier_t* const barrier = common.barrier(1, 0, 2);
  const auto converted = [&](size_t number, PrivatePages& pages) {
    bool right = pages.isolate(common.page(0) + 123) && pages.holds(common.page(0)) && pages.count() == 1;
    right &= data[5] == 5;
    pthread_barrier_wait(barrier);
    data[number] = 10 + number;
    pthread_barrier_wait(barrier);
    right &= data[1 - number] == 0;
    pages.commit();
    right &= data[1 - number] == 0 || data[1 - number] == 11 - number;
    pthread_barrier_wait(barrier);
    pages.commit();
    right &= data[0] == 10 && data[1] == 11 && data[5] == 5;
    return right && pages.merged() == 1 && pages.commits() == 2;
  };
  CHECK(in_converted_threads(2, converted) == 2);
  CHECK(data[0] == 10);
  CHECK(data[1] == 11);
}

TEST_CASE(
    "What others have stored is known to be outdated until a commit, but not where the thread has stored "
    "itself") {
  const CommonPages common(2);
  auto* const data = common.at<volatile uint64_t>(0);
  pthread_barrier_t* const barrier = common.barrier(1, 0, 2);
  const auto converted = [&](size_t number, PrivatePages& pages) {
    bool right = pages.isolate(common.page(0)) && !pages.is_outdated();
    const auto address = [&](size_t word) { return common.page(0) + word * sizeof(uint64_t); };
    pthread_barrier_wait(barrier);
    if (number == 0) {
      data[3] = 3;
      data[4] = 4;
      pages.commit();
    } else {
      data[4] = 5;
    }
    pthread_barrier_wait(barrier);
    if (number == 0) right &= !pages.is_outdated();
    if (number == 0) return pthread_barrier_wait(barrier), right;
    right &= pages.is_outdated() && pages.is_outdated(address(3), 8) && pages.is_outdated(address(2), 16);
    right &= !pages.is_outdated(address(2), 8) && !pages.is_outdated(address(4), 1);
    right &= !pages.is_outdated(common.page(1), 8);
    pthread_barrier_wait(barrier);  // the other one has read it
    pages.commit();
    return right && !pages.is_outdated() && !pages.is_outdated(address(3), 8) && data[3] == 3;
  };
  CHECK(in_converted_threads(2, converted) == 2);
}

TEST_CASE("Counters side by side, and one under a lock, end as if they were common") {
  const CommonPages common(2);
  auto* const bytes = common.at<volatile uint8_t>(0);
  auto* const counter = common.at<volatile uint32_t>(0, 64);
  auto* const own = common.at<volatile uint64_t>(0, 128);
  pthread_mutex_t* const mutex = common.mutex(1);
  constexpr uint32_t kTurns = 20'000;
  constexpr size_t kConvertedThreads = 3;
  const auto converted = [&](size_t number, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    for (uint32_t turn = 1; turn <= kTurns; ++turn) {
      for (int i = 0; i < 10; ++i) own[number] = own[number] + 1;
      bytes[number] = static_cast<uint8_t>(turn);
      pthread_mutex_lock(mutex);
      pages.commit();
      *counter = *counter + 1;
      pages.commit();
      pthread_mutex_unlock(mutex);
    }
    pages.share_all();
    return pages.count() == 0 && own[number] == 10 * kTurns;
  };
  CHECK(in_converted_threads(kConvertedThreads, converted) == kConvertedThreads);
  CHECK(*counter == kConvertedThreads * kTurns);
  for (size_t number = 0; number < kConvertedThreads; ++number) {
    CHECK(own[number] == 10 * kTurns);
    CHECK(bytes[number] == static_cast<uint8_t>(kTurns));
  }
}

TEST_CASE("A page that is shared again has what was written, and is common") {
  const CommonPages common(3);
  auto* const data = common.at<volatile uint32_t>(0);
  const auto converted = [&](size_t, PrivatePages& pages) {
    bool right = pages.isolate(common.page(0)) && pages.isolate(common.page(2));
    data[0] = 1;
    pages.share(common.page(1));  // not a page of the converted thread
    right &= pages.count() == 2;
    pages.share(common.page(0) + 8);
    right &= pages.count() == 1 && !pages.holds(common.page(0)) && pages.holds(common.page(2));
    data[1] = 2;
    return right;
  };
  CHECK(in_converted_threads(1, converted) == 1);
  CHECK(data[0] == 1);
  CHECK(data[1] == 2);
}

TEST_CASE("There are so many private pages and no more, and places are used again") {
  const CommonPages common(kMaxPrivatePages + 1);
  const auto converted = [&](size_t, PrivatePages& pages) {
    bool right = true;
    for (uint32_t turn = 0; turn < 3; ++turn) {
      for (uint32_t page = 0; page < kMaxPrivatePages; ++page) {
        right &= pages.isolate(common.page(page));
        *common.at<volatile uint32_t>(page) = turn * 100 + page;
      }
      right &= !pages.isolate(common.page(kMaxPrivatePages)) && pages.isolate(common.page(7));
      pages.share_all();
    }
    return right;
  };
  CHECK(in_converted_threads(1, converted) == 1);
  for (uint32_t page = 0; page < kMaxPrivatePages; ++page) CHECK(*common.at<uint32_t>(page) == 200 + page);
}

TEST_CASE("Commits need no page faults") {
  const CommonPages common(1);
  const auto converted = [&](size_t, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    auto* const data = common.at<volatile uint32_t>(0);
    const auto commit = [&](uint32_t turn) {
      data[turn % 1000] = turn;
      pages.commit();
    };
    commit(1);
    const long before = page_faults();
    for (uint32_t turn = 2; turn < 1000; ++turn) commit(turn);
    return page_faults() - before < 10 && pages.merged() == 999;
  };
  CHECK(in_converted_threads(1, converted) == 1);
}

TEST_CASE("The view of a private page is common memory, and so is the address of any other") {
  const CommonPages common(2);
  auto* const data = common.at<volatile uint64_t>(0);
  const auto converted = [&](size_t, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    const uint64_t address = common.page(0) + 40;
    const uint64_t view = pages.common_address(address);
    *reinterpret_cast<volatile uint64_t*>(view) = 5;
    bool right = view != address && data[5] == 0;
    right &= pages.common_address(common.page(1)) == common.page(1);
    pages.share_all();
    right &= pages.common_address(address) == address;
    return right && data[5] == 5;
  };
  CHECK(in_converted_threads(1, converted) == 1);
  CHECK(data[5] == 5);
}

TEST_CASE("Bytes that are refreshed are seen by others, and others' are seen, and only these") {
  const CommonPages common(1);
  auto* const data = common.at<volatile uint32_t>(0);
  const auto converted = [&](size_t, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    auto* const view = reinterpret_cast<volatile uint32_t*>(pages.common_address(common.page(0)));
    data[16] = 1;
    data[100] = 1;
    pages.refresh(common.page(0) + 64, 4);
    bool right = view[16] == 1 && view[100] == 0;
    view[17] = 2;
    view[101] = 2;
    pages.refresh(common.page(0) + 68, 4);
    right &= data[17] == 2 && data[101] == 0;
    right &= data[16] == 1 && data[100] == 1 && pages.commits() == 0;
    pages.commit();
    return right && view[100] == 1 && data[101] == 2;
  };
  CHECK(in_converted_threads(1, converted) == 1);
}

TEST_CASE(
    "Lines that a converted thread changed are reported at its commits, to the byte, and others' are not") {
  const CommonPages common(2);
  auto* const data = common.at<volatile uint8_t>(0);
  struct Changes {
    uint64_t line[8], bytes[8];
    uint32_t count;
  };
  static Changes* changes;
  changes = common.at<Changes>(1);
  const auto converted = [&](size_t, PrivatePages& pages) {
    report_changed_lines([](uint64_t line, uint64_t bytes) noexcept {
      changes->line[changes->count % 8] = line;
      changes->bytes[changes->count++ % 8] = bytes;
    });
    if (!pages.isolate(common.page(0))) return false;
    data[0] = data[0] + 1;
    data[63] = 1;
    data[130] = 2;
    data[200] = 0;  // the previous value
    auto* const view = reinterpret_cast<volatile uint8_t*>(pages.common_address(common.page(0)));
    view[256] = 3;  // another thread's store
    pages.commit();
    bool right = changes->count == 2;
    right &= changes->line[0] == common.page(0) && changes->bytes[0] == (uint64_t{1} << 63 | 1);
    right &= changes->line[1] == common.page(0) + 128 && changes->bytes[1] == 4;
    pages.commit();
    right &= changes->count == 2;
    // Parts of lines that are merged separately.
    data[300] = 4;
    data[340] = 5;
    pages.refresh(common.page(0) + 300, 1);
    right &= changes->count == 3 && changes->line[2] == common.page(0) + 256 &&
             changes->bytes[2] == uint64_t{1} << 44;
    pages.share_all();
    right &= changes->count == 4 && changes->line[3] == common.page(0) + 320 &&
             changes->bytes[3] == uint64_t{1} << 20;
    return right;
  };
  CHECK(in_converted_threads(1, converted) == 1);
}

TEST_CASE("An access by a view shows what was written before, and leaves what it wrote to be read") {
  const CommonPages common(1);
  constexpr uint32_t kTurns = 20'000;
  constexpr size_t kConvertedThreads = 3;
  auto* const counter = common.at<uint64_t>(0);
  auto* const beside = common.at<volatile uint8_t>(0, 8);
  *counter = 7;
  const auto converted = [&](size_t number, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    const auto address = reinterpret_cast<uint64_t>(counter);
    bool right = true;
    for (uint32_t turn = 0; turn < kTurns; ++turn) {
      beside[number] = static_cast<uint8_t>(turn);
      auto* const view = reinterpret_cast<uint64_t*>(pages.open_view(address, 8, PrivatePages::Commit::No));
      right &= pages.is_busy();
      const uint64_t before = __atomic_fetch_add(view, 1, __ATOMIC_RELAXED);
      pages.close_view(address, 8, PrivatePages::Commit::No);
      right &= !pages.is_busy() && *counter > before;
    }
    return right && pages.commits() == 0;
  };
  CHECK(in_converted_threads(kConvertedThreads, converted) == kConvertedThreads);
  CHECK(*counter == 7 + kConvertedThreads * kTurns);
  for (size_t number = 0; number < kConvertedThreads; ++number)
    CHECK(beside[number] == static_cast<uint8_t>(kTurns - 1));
}

TEST_CASE("A view commits before and after where it is asked to") {
  const CommonPages common(1);
  auto* const data = common.at<volatile uint64_t>(0);
  const auto converted = [&](size_t, PrivatePages& pages) {
    if (!pages.isolate(common.page(0))) return false;
    auto* const view = reinterpret_cast<volatile uint64_t*>(pages.common_address(common.page(0)));
    data[100] = 1;
    pages.open_view(common.page(0), 8, PrivatePages::Commit::Yes);
    bool right = view[100] == 1;
    view[200] = 2;
    right &= data[200] == 0;
    pages.close_view(common.page(0), 8, PrivatePages::Commit::Yes);
    return right && data[200] == 2 && pages.commits() == 2;
  };
  CHECK(in_converted_threads(1, converted) == 1);
}

TEST_CASE("Bytes on two pages make both common") {
  const CommonPages common(3);
  const auto converted = [&](size_t, PrivatePages& pages) {
    for (size_t page = 0; page < 3; ++page)
      if (!pages.isolate(common.page(page))) return false;
    const uint64_t address = common.page(1) - 4;
    const bool same = pages.open_view(address, 8, PrivatePages::Commit::No) == address;
    pages.close_view(address, 8, PrivatePages::Commit::No);
    return same && !pages.holds(common.page(0)) && !pages.holds(common.page(1)) &&
           pages.holds(common.page(2));
  };
  CHECK(in_converted_threads(1, converted) == 1);
}

TEST_CASE("Pages that are set aside are common until they are taken back") {
  const CommonPages common(2);
  auto* const one = common.at<volatile uint64_t>(0);
  auto* const other = common.at<volatile uint64_t>(1);
  const auto converted = [&](size_t, PrivatePages& pages) {
    if (!pages.isolate(common.page(0)) || !pages.isolate(common.page(1))) return false;
    one[0] = 1;
    pages.set_aside();
    bool right = pages.count() == 0;
    other[0] = 2;
    pages.take_back();
    right &= pages.count() == 2 && pages.holds(common.page(0)) && pages.holds(common.page(1));
    one[1] = 3;
    return right && one[0] == 1 && other[0] == 2;
  };
  CHECK(in_converted_threads(1, converted) == 1);
  CHECK(one[0] == 1);
  CHECK(other[0] == 2);
  CHECK(one[1] == 0);  // it ended without a commit
}

TEST_CASE("Where more pages are needed in common than there is room for, all are, until that is done") {
  static constinit NeededCommon needed;
  for (uint64_t page = 1; page <= NeededCommon::kPlaces; ++page) needed.add(page * kPageBytes, 3);
  CHECK_FALSE(needed.needs_all());
  CHECK_FALSE(needed.holds(100 * kPageBytes));
  needed.add(7 * kPageBytes, 3);  // already known
  CHECK_FALSE(needed.needs_all());
  needed.add(100 * kPageBytes, 3);
  CHECK(needed.needs_all());
  CHECK(needed.holds(100 * kPageBytes));
  CHECK(needed.holds(200 * kPageBytes));
  needed.take_all();
  CHECK_FALSE(needed.holds(200 * kPageBytes));
  CHECK(needed.holds(7 * kPageBytes));
}
