// Blocks wander between threads, so a twin commits as it releases and has them. Compiled into the test, the
// calls stand before the C library's for all of it.

#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/own_pages.h"
#include "tests/repair/isolate/twin_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

// How often the call commits.
uint64_t commits_by(const std::function<void()>& call) {
  const CommonPages common{2};
  auto* const commits = common.at<uint64_t>(1);
  CHECK(in_twins(1, [&](size_t, PrivatePages& pages) {
          if (!pages.isolate(common.page(0))) return false;
          own_pages = &pages;
          call();
          own_pages = nullptr;
          *commits = pages.commits();
          return true;
        }) == 1);
  return *commits;
}

void* volatile block;  // the compiler leaves the calls where they are

}  // namespace

TEST_CASE("Who releases a block commits before, and who has one after") {
  CHECK(commits_by([] {}) == 0);
  CHECK(commits_by([] { block = malloc(10); }) == 1);
  CHECK(commits_by([] { block = calloc(10, 10); }) == 1);
  CHECK(commits_by([] { block = aligned_alloc(64, 64); }) == 1);
  CHECK(commits_by([] { block = memalign(64, 64); }) == 1);
  CHECK(commits_by([] { block = valloc(64); }) == 1);
  CHECK(commits_by([] { block = pvalloc(64); }) == 1);
  CHECK(commits_by([] {
          void* at = nullptr;
          if (posix_memalign(&at, 64, 64) == 0) block = at;
        }) == 1);
  block = malloc(10);
  CHECK(commits_by([] { free(block); }) == 1);
  CHECK(commits_by([] { block = realloc(block, 100); }) == 2);
  CHECK(commits_by([] { block = reallocarray(block, 100, 2); }) == 2);
  CHECK(commits_by([] { delete new int(static_cast<int>(malloc_usable_size(block))); }) == 2);
}

TEST_CASE("Sizes that no block has are refused") {
  volatile size_t many = SIZE_MAX / 2;
  CHECK(reallocarray(nullptr, many, 3) == nullptr);
  CHECK(pvalloc(many * 2) == nullptr);
  block = pvalloc(1);
  CHECK(reinterpret_cast<uintptr_t>(block) % kPageBytes == 0);
  CHECK(malloc_usable_size(block) >= kPageBytes);
  free(block);
}

TEST_CASE(
    "What one twin wrote to a block before it released it, is what others commit to as they have theirs") {
  const CommonPages common{2};
  auto* const data = common.at<volatile int>(0);
  auto* const ready = common.at<std::atomic<int>>(1, 64);
  auto* const is_released = common.at<std::atomic<bool>>(1);
  block = malloc(100);
  CHECK(in_twins(2, [&](size_t twin, PrivatePages& pages) {
          if (!pages.isolate(common.page(0))) return false;
          own_pages = &pages;
          ++*ready;
          while (*ready < 2) raw_syscall(SYS_sched_yield);  // which does not commit
          if (twin == 0) {
            data[0] = 5;
            free(block);
            *is_released = true;
            return true;
          }
          while (!*is_released) raw_syscall(SYS_sched_yield);
          if (data[0] != 0) return false;
          block = malloc(100);
          return data[0] == 5;
        }) == 2);
}
