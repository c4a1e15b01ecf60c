// A block may be reused by another thread, so a converted thread commits when it allocates and releases
// blocks. Compiled into the test, the calls interpose on the C library's for the whole test.

#include <malloc.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/earlier_memory.h"
#include "repair/isolate/pages/own_pages.h"
#include "repair/isolate/preload/second_allocator.h"
#include "tests/repair/isolate/converted_thread_processes.h"

using namespace hpcrun;
using namespace hpcrun::test;

namespace {

// Returns how often the call commits.
uint64_t commits_by(const std::function<void()>& call) {
  heap = Heap::Common;
  const CommonPages common{2};
  auto* const commits = common.at<uint64_t>(1);
  CHECK(in_converted_threads(1, [&](size_t, PrivatePages& pages) {
          if (!pages.isolate(common.page(0))) return false;
          own_pages = &pages;
          call();
          own_pages = nullptr;
          *commits = pages.commits();
          return true;
        }) == 1);
  return *commits;
}

void* volatile block;  // keeps the compiler from moving the calls

// A second allocator, which counts its calls.
constexpr size_t kRoomBytes = 1 << 20;
char* room = nullptr;
size_t used = 0;
// The compiler assumes that calls of allocators change nothing here.
volatile int had = 0, released = 0;

bool is_in_room(const void* at) {
  return at >= room && at < room + kRoomBytes;
}
void* take(size_t bytes, size_t align = 16) {
  had = had + 1;
  used = (used + align - 1) / align * align + 64;
  char* const at = room + used;
  memcpy(at - 16, &bytes, sizeof bytes);
  used += bytes;
  return at;
}
size_t size_of(void* at) {
  size_t bytes;
  memcpy(&bytes, static_cast<char*>(at) - 16, sizeof bytes);
  return bytes;
}
constexpr SecondAllocator kCounting{
    .malloc = [](size_t bytes) { return take(bytes); },
    .calloc = [](size_t count, size_t each) { return take(count * each); },
    .realloc =
        [](void* at, size_t bytes) {
          void* const to = take(bytes);
          if (at) memcpy(to, at, size_of(at));
          return to;
        },
    .free = [](void* at) { released = released + is_in_room(at); },
    .posix_memalign =
        [](void** out, size_t align, size_t bytes) {
          *out = take(bytes, align);
          return 0;
        },
    .aligned_alloc = [](size_t align, size_t bytes) { return take(bytes, align); },
    .memalign = [](size_t align, size_t bytes) { return take(bytes, align); },
    .valloc = [](size_t bytes) { return take(bytes, kPageBytes); },
    .malloc_usable_size = size_of,
};

// From here on the program uses the second allocator, in a process in which nothing else is tested.
bool change_over() {
  if (!begin_earlier_memory(0, 0)) return false;
  const long at = map_apart_from_earlier(kRoomBytes, PROT_READ | PROT_WRITE, 0);
  if (at < 0) return false;
  room = reinterpret_cast<char*>(at);
  second = kCounting;
  heap = Heap::Second;
  return true;
}

bool has_only(const void* at, char value, size_t bytes) {
  const char* const begin = static_cast<const char*>(at);
  return std::all_of(begin, begin + bytes, [=](char one) { return one == value; });
}

// Blocks of the first and the second allocator pass through every call.
bool each_block_is_its_allocators() {
  constexpr size_t kLarge = 1 << 20;
  heap = Heap::Own;
  void* const small = malloc(100);
  void* const grows = malloc(100);
  void* const shrinks = malloc(kLarge);
  void* const large = malloc(kLarge);
  memset(small, 1, 100);
  memset(grows, 2, 100);
  memset(shrinks, 3, kLarge);
  memset(large, 4, kLarge);
  const size_t small_bytes = malloc_usable_size(small);
  if (!change_over()) return false;

  // A block of the second one: allocated, grown and released there.
  void* fresh = malloc(50);
  if (had != 1 || !is_in_room(fresh) || is_earlier(fresh) || malloc_usable_size(fresh) != 50) return false;
  fresh = realloc(fresh, 60);
  if (had != 2 || malloc_usable_size(fresh) != 60) return false;
  free(fresh);
  if (released != 1) return false;
  void* aligned = nullptr;
  for (void* at : {calloc(2, 3), aligned_alloc(64, 64), memalign(64, 64), valloc(10), pvalloc(10),
                   realloc(nullptr, 5), reallocarray(nullptr, 2, 2)})
    if (!is_in_room(at)) return false;
  if (posix_memalign(&aligned, 64, 10) != 0 || !is_in_room(aligned)) return false;
  delete new int;
  if (released != 2) return false;

  // The first one does not run any more, so it neither writes to a block nor uses it again.
  const int before = had;
  free(small);
  free(nullptr);
  if (!has_only(small, 1, 100) || malloc_usable_size(small) != small_bytes) return false;
  // A block that fits stays in place, and its released part goes back to the kernel.
  if (realloc(shrinks, kLarge / 2) != shrinks || had != before || !has_only(shrinks, 3, kLarge / 2))
    return false;
  if (!has_only(static_cast<char*>(shrinks) + kLarge / 2 + kPageBytes, 0, kLarge / 4)) return false;
  void* const grown = realloc(grows, 4000);
  if (!is_in_room(grown) || had != before + 1 || !has_only(grown, 2, 100) || !has_only(grows, 2, 100))
    return false;
  free(large);
  if (!has_only(static_cast<char*>(large) + kPageBytes, 0, kLarge / 2)) return false;
  if (realloc(small, 0) != nullptr || had != before + 1) return false;
  return released == 2;
}

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
    "What one converted thread wrote to a block before it released it, is what others commit to as they have "
    "theirs") {
  const CommonPages common{2};
  auto* const data = common.at<volatile int>(0);
  auto* const ready = common.at<std::atomic<int>>(1, 64);
  auto* const is_released = common.at<std::atomic<bool>>(1);
  block = malloc(100);
  CHECK(in_converted_threads(2, [&](size_t converted, PrivatePages& pages) {
          if (!pages.isolate(common.page(0))) return false;
          own_pages = &pages;
          ++*ready;
          while (*ready < 2) raw_syscall(SYS_sched_yield);  // which does not commit
          if (converted == 0) {
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

TEST_CASE(
    "Blocks of the first allocator and of the second are each released by their own, at home and in "
    "converted threads") {
  const CommonPages common{2};
  CHECK(in_converted_threads(1, [&](size_t, PrivatePages&) { return each_block_is_its_allocators(); }) == 1);
  CHECK(in_converted_threads(1, [&](size_t, PrivatePages& pages) {
          if (!pages.isolate(common.page(0))) return false;
          own_pages = &pages;
          const bool is_right = each_block_is_its_allocators();
          own_pages = nullptr;
          return is_right && pages.commits() > 0;
        }) == 1);
}

TEST_CASE("A thread that is in the first allocator leaves it before it stops") {
  CHECK_FALSE(CallOfFirst::defer_standstill());
  {
    const CallOfFirst outer;
    const CallOfFirst inner;  // in a handler
    CHECK(CallOfFirst::defer_standstill());
  }
  CHECK_FALSE(CallOfFirst::defer_standstill());
}

TEST_CASE("Nothing that is mapped for blocks lies in a piece where memory was mapped before") {
  const CommonPages common{1};
  CHECK(in_converted_threads(1, [&](size_t, PrivatePages&) {
          const long later = map_for_later(10 * kPageBytes);
          const long given_back = map_apart_from_earlier(3 * kPieceBytes, PROT_READ | PROT_WRITE, 0);
          if (later < 0 || given_back < 0 || has_earlier_memory() || !begin_earlier_memory(0, 0))
            return false;
          const auto first = static_cast<uint64_t>(given_back);
          munmap(reinterpret_cast<void*>(given_back), 3 * kPieceBytes);
          if (!is_earlier(reinterpret_cast<void*>(given_back)) || !is_earlier(&first)) return false;
          if (is_earlier(reinterpret_cast<void*>(later))) return false;
          for (int turn = 0; turn < 20; ++turn) {
            const long at = map_apart_from_earlier(kPieceBytes + kPageBytes, PROT_READ | PROT_WRITE, 0);
            const auto low = static_cast<uint64_t>(at);
            if (at < 0 || reaches_earlier(low, low + kPieceBytes + kPageBytes)) return false;
            *reinterpret_cast<volatile char*>(low + kPieceBytes) = 1;
          }
          return true;
        }) == 1);
}
