// Leaves common memory, as a fork does, while other threads map, drop and protect theirs.

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <thread>
#include <vector>

#include "repair/isolate/memory/common_calls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/contract/pages.h"
#include "repair/isolate/session/tasks.h"
#include "tests/repair/isolate/child.h"

using hpcrun::kPageBytes;

namespace {

constexpr int kPlain = PROT_READ | PROT_WRITE;

char* map(size_t pages, int flags = 0, void* at = nullptr) {
  const long result =
      hpcrun::common_mmap(at, pages * kPageBytes, kPlain, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return result < 0 && result > -4096 ? nullptr : reinterpret_cast<char*>(result);
}

// Creates many separate mappings, so that leaving them all takes a while.
void map_many() {
  constexpr size_t kPages = 600;
  char* const at = map(kPages);
  for (size_t page = 0; page < kPages; page += 2)
    hpcrun::common_mprotect(at + page * kPageBytes, kPageBytes, PROT_READ);
}

// Maps new memory over the middle of a piece, or none; then the piece has what was written last.
bool change_all_the_time(const std::atomic<bool>& is_over) {
  constexpr size_t kPages = 16, kFirst = 4, kMiddle = 8;
  char* const piece = map(kPages);
  if (!piece) return false;
  for (unsigned turn = 0; !is_over; ++turn) {
    char* const middle = piece + kFirst * kPageBytes;
    if (turn % 2 ? map(kMiddle, MAP_FIXED, middle) != middle
                 : hpcrun::common_madvise(middle, kMiddle * kPageBytes, MADV_DONTNEED) != 0)
      return false;
    const auto value = static_cast<char>(turn % 100 + 1);
    for (size_t page = 0; page < kPages; ++page) memset(piece + page * kPageBytes, value, 64);
    for (int look = 0; look < 20; ++look)
      for (size_t page = 0; page < kPages; ++page)
        if (piece[page * kPageBytes + 17] != value) return false;
  }
  return true;
}

// A joined thread may exist for another moment, longer on a busy machine.
void await_end_of_joined() {
  for (int tries = 0; tries < 5'000 && hpcrun::count_tasks() > 1; ++tries) usleep(1'000);
}

// Objects for several processes sleep by shared keys, and so do robust mutexes.
struct Meeting {
  sem_t semaphore;
  pthread_mutex_t mutex;
  Meeting() {
    sem_init(&semaphore, 1, 0);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
};

template <typename Wait>
bool wakes(const timespec& until, Wait wait) {
  while (const int error = wait(&until))
    if (error != EINTR) return false;
  return true;
}

}  // namespace

TEST_CASE(
    "Threads that sleep by shared keys as common memory is left are woken by those who wake them "
    "afterwards") {
  CHECK(holds_in_child([] {
    if (!hpcrun::make_common()) return false;
    static Meeting meeting;
    pthread_mutex_lock(&meeting.mutex);
    timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    std::atomic<int> woken{0};
    std::thread at_semaphore([&] {
      woken += wakes(
          until, [](const timespec* end) { return sem_timedwait(&meeting.semaphore, end) == 0 ? 0 : errno; });
    });
    std::thread at_mutex([&] {
      woken += wakes(until, [](const timespec* end) { return pthread_mutex_timedlock(&meeting.mutex, end); });
    });
    usleep(50'000);
    if (!hpcrun::leave_common()) return false;
    sem_post(&meeting.semaphore);
    pthread_mutex_unlock(&meeting.mutex);
    at_semaphore.join();
    at_mutex.join();
    return woken == 2;
  }));
}

TEST_CASE("Memory that threads map while common memory is left keeps what they write there") {
  CHECK(holds_in_child([] {
    constexpr int kTurns = 60, kThreads = 3;
    std::atomic<int> wrong{0};
    for (int turn = 0; turn < kTurns; ++turn) {
      await_end_of_joined();
      if (!hpcrun::make_common()) return false;
      if (turn == 0) map_many();
      std::atomic<bool> is_over{false};
      std::vector<std::thread> threads;
      for (int i = 0; i < kThreads; ++i)
        threads.emplace_back([&] { wrong += !change_all_the_time(is_over); });
      usleep(1'000);
      if (!hpcrun::leave_common()) return false;
      usleep(2'000);
      is_over = true;
      for (std::thread& thread : threads) thread.join();
    }
    if (wrong) printf("%d threads lost what they wrote\n", wrong.load());
    return wrong == 0;
  }));
}
