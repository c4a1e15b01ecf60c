// heap_cases CASE [MILLIONS]: uses the heap and prints the result.
// - released: two threads count in adjacent words of one allocation, which is released before the end
// - mapped: the same in a mapping of shared memory, after blocks that were allocated from it
// - paths: two threads allocate by tens of thousands of call paths
// - storm: threads, forks and signal handlers allocate and release, in all ways; then the sum of the rest

#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

uint64_t steps = 1'500'000'000;

void count(volatile uint64_t& at) {
  for (uint64_t i = 0; i < steps; ++i) at = at + 1;
}

int released() {
  volatile uint64_t* const pair = static_cast<uint64_t*>(aligned_alloc(64, 64));
  for (int i = 0; i < 2; ++i) pair[i] = 0;
  std::thread other([=] { count(pair[1]); });
  count(pair[0]);
  other.join();
  std::printf("%llu\n", static_cast<unsigned long long>(pair[0] + pair[1]));
  free(const_cast<uint64_t*>(pair));
  for (int i = 0; i < 100; ++i) free(malloc(64));
  return 0;
}

[[gnu::noinline]] unsigned char* map_pool(size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<unsigned char*>(at);
}

int mapped() {
  constexpr size_t kPoolBytes = 1 << 20, kAt = 4096;
  unsigned char* const pool = map_pool(kPoolBytes);
  if (!pool) return 1;
  volatile uint64_t* const pair = reinterpret_cast<uint64_t*>(pool + kAt);
  std::thread other([=] { count(pair[1]); });
  count(pair[0]);
  other.join();
  std::printf("%llu\n", static_cast<unsigned long long>(pair[0] + pair[1]));
  munmap(pool, kPoolBytes);
  return 0;
}

// Descends a tree of calls of which no two have the same path.
uint64_t allocate_below(unsigned depth);

[[gnu::noinline]] uint64_t allocate_left(unsigned depth) {
  return 1 + allocate_below(depth);
}

[[gnu::noinline]] uint64_t allocate_right(unsigned depth) {
  return 1 + allocate_below(depth);
}

[[gnu::noinline]] uint64_t allocate_below(unsigned depth) {
  const std::vector<uint64_t> one(4, depth);
  if (depth == 0) return one[0];
  return allocate_left(depth - 1) + allocate_right(depth - 1);
}

int paths() {
  constexpr unsigned kDepth = 15;
  uint64_t others = 0;
  std::thread other([&] { others = allocate_below(kDepth); });
  const uint64_t own = allocate_below(kDepth);
  other.join();
  std::printf("%llu\n", static_cast<unsigned long long>(own + others));
  return 0;
}

std::atomic<uint64_t> handled{0};

// Handlers may not do this, but some do. The thread is not in the allocator when the signal arrives.
void on_signal(int) {
  free(malloc(100));
  ++handled;
}

void map_and_unmap(size_t bytes) {
  auto* const small = map_pool(bytes);
  void* const large = mremap(small, bytes, 40 * bytes, MREMAP_MAYMOVE);
  if (!small || large == MAP_FAILED || munmap(large, 40 * bytes) != 0) abort();
  if (mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL)
    abort();
}

uint64_t allocate_in_all_ways(uint64_t seed) {
  std::vector<unsigned char*> kept;
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    const size_t bytes = 1 + (seed += 7919) % 5000;
    void* at = nullptr;
    switch (i % 9) {
      case 0:
        at = malloc(bytes);
        break;
      case 1:
        at = calloc(bytes, 3);
        break;
      case 2:
        at = realloc(nullptr, bytes);
        break;
      case 3:
        at = realloc(malloc(bytes), bytes * 40);
        break;
      case 4:
        at = reallocarray(calloc(1, bytes), bytes, 2);
        break;
      case 5:
        if (posix_memalign(&at, 256, bytes) != 0) abort();
        break;
      case 6:
        at = aligned_alloc(128, bytes * 128);
        break;
      case 7:
        at = memalign(64, bytes);
        break;
      default:
        at = i % 99 == 8 ? valloc(bytes) : ::operator new(bytes);
        break;
    }
    if (i % 100 == 0) map_and_unmap(bytes);
    if (i % 9 == 5 && reinterpret_cast<uintptr_t>(at) % 256 != 0) abort();
    memset(at, static_cast<int>(i), bytes);
    kept.push_back(static_cast<unsigned char*>(at));
    if (kept.size() < 200) continue;
    unsigned char*& gone = kept[seed % kept.size()];
    sum += gone[0];
    free(gone);
    gone = kept.back();
    kept.pop_back();
  }
  for (unsigned char* at : kept) free(at);
  return sum;
}

bool ends_with(pid_t child, int expected) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == expected;
}

bool child_of_fork(int status) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { allocate_in_all_ways(1); }).join();
    _exit(status);
  }
  return ends_with(child, status);
}

[[gnu::noinline]] bool child_of_vfork(int status) {
  const pid_t child = vfork();
  if (child == 0) _exit(status);
  return ends_with(child, status);
}

int storm() {
  signal(SIGUSR1, on_signal);
  errno = 77;
  free(malloc(1));
  if (errno != 77) return 1;
  const volatile size_t too_much = SIZE_MAX / 2;  // prevents a compiler warning
  if (malloc(too_much) || errno != ENOMEM) return 2;
  if (reallocarray(nullptr, too_much, 4)) return 3;
  void* kept = malloc(10);
  if (realloc(kept, too_much)) return 4;
  free(kept);
  std::vector<std::thread> threads;
  std::atomic<uint64_t> sum{0};
  for (uint64_t i = 0; i < 4; ++i) threads.emplace_back([&, i] { sum += allocate_in_all_ways(i); });
  for (int i = 0; i < 20; ++i) {
    raise(SIGUSR1);
    if (!(i % 2 ? child_of_fork(i) : child_of_vfork(i))) return 5;
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%llu %llu\n", static_cast<unsigned long long>(sum.load()),
              static_cast<unsigned long long>(handled.load()));
  return 0;
}

}  // namespace

int main(int count, char** argv) {
  if (count < 2) return 2;
  if (count > 2) steps = std::strtoull(argv[2], nullptr, 10) * 1'000'000;
  if (strcmp(argv[1], "released") == 0) return released();
  if (strcmp(argv[1], "mapped") == 0) return mapped();
  if (strcmp(argv[1], "paths") == 0) return paths();
  if (strcmp(argv[1], "storm") == 0) return storm();
  return 2;
}
