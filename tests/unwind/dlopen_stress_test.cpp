// Sampling at 4 kHz in every thread while libraries are loaded and unloaded, exceptions are thrown, memory is
// allocated and threads are created. Walks that took a lock of the loader, of malloc or of an unwinder would
// hang here within seconds.
#include <catch2/catch.hpp>

#include <dlfcn.h>
#include <errno.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unwind/thread_sampler.h"

namespace {

using namespace hpcrun;
using prof_test::ThreadTimer;
using prof_test::ThreadWalker;

constexpr long kPeriodNs = 250'000;
constexpr uint64_t kWantedSamples = 30'000;
const int kSignal = SIGRTMIN + 5;

thread_local ThreadWalker* walker __attribute__((tls_model("initial-exec")));
std::atomic<uint64_t> samples{0};
std::atomic<uint64_t> reasons[static_cast<size_t>(StackReason::Count)];
std::atomic<uint32_t> announced{0};

void on_sample(int, siginfo_t*, void* context) {
  const int saved_errno = errno;
  const Stack stack = walker->unwinder.walk(*static_cast<ucontext_t*>(context));
  ++reasons[static_cast<size_t>(stack.reason)];
  ++samples;
  errno = saved_errno;
}

bool wanted() {
  return samples.load() < kWantedSamples;
}

// Runs once per round until there are enough samples of all threads.
template <typename Round>
void sampled_loop(Round round) {
  ThreadWalker mine;
  walker = &mine;
  const ThreadTimer timer(kSignal, kPeriodNs);
  for (uint64_t i = 0; wanted(); ++i) round(i);
}

const char* const kPlugins[] = {PLUGIN_ONE, PLUGIN_TWO};

uint64_t use(void* library) {
  const auto work = reinterpret_cast<uint64_t (*)(uint64_t)>(dlsym(library, "plugin_work"));
  return work ? work(1) : 0;
}

// As the runtime handles the program's own calls.
void load_announced(uint64_t round) {
  void* library = dlopen(kPlugins[round % 2], RTLD_NOW | RTLD_LOCAL);
  refresh_modules();
  use(library);
  invalidate_walk_caches();
  dlclose(library);
  invalidate_walk_caches();
  refresh_modules();
}

// As libc loads its own libraries (character sets, name services): the tables are not refreshed.
void load_silently(uint64_t round) {
  void* library = dlopen(kPlugins[(round + 1) % 2], RTLD_NOW | RTLD_LOCAL);
  use(library);
  invalidate_walk_caches();
  dlclose(library);
  invalidate_walk_caches();
}

void allocate(uint64_t round) {
  std::vector<void*> blocks;
  for (size_t bytes = 16; bytes < 4u << 20; bytes *= 2) blocks.push_back(std::malloc(bytes + round % 13));
  for (void* block : blocks) std::free(block);
}

__attribute__((noipa)) void throw_from(int depth) {
  const std::string held(100, 'x');
  if (depth == 0) throw std::runtime_error(held);
  throw_from(depth - 1);
}

void throw_and_catch(uint64_t) {
  try {
    throw_from(8);
  } catch (const std::exception& error) {
    if (error.what()[0] != 'x') std::abort();
  }
}

void start_threads(uint64_t) {
  std::thread([] {
    ThreadWalker mine;
    walker = &mine;
    const ThreadTimer timer(kSignal, kPeriodNs);
    for (uint64_t i = 0; i < 20; ++i) allocate(i);
  }).join();
}

}  // namespace

TEST_CASE("walks in every thread survive dlopen, dlclose, malloc, throw and thread start") {
  set_module_sink([](const ModuleInfo&) noexcept { ++announced; });
  refresh_modules();
  prof_test::install_handler(kSignal, on_sample);
  const uint32_t before = announced;

  std::vector<std::thread> threads;
  threads.emplace_back([] { sampled_loop(load_announced); });
  threads.emplace_back([] { sampled_loop(load_silently); });
  threads.emplace_back([] { sampled_loop(allocate); });
  threads.emplace_back([] { sampled_loop(throw_and_catch); });
  threads.emplace_back([] { sampled_loop(start_threads); });
  for (std::thread& thread : threads) thread.join();

  uint64_t complete = 0;
  uint64_t all = 0;
  for (size_t i = 0; i < std::size(reasons); ++i) {
    const uint64_t count = reasons[i].load();
    if (count) std::printf("reason %zu: %lu\n", i, count);
    all += count;
    if (stack_class(static_cast<StackReason>(i)) == StackClass::Complete) complete += count;
  }
  std::printf("%lu samples, %.3f %% complete, %zu KiB of tables\n", all,
              100.0 * static_cast<double>(complete) / static_cast<double>(all), module_table_bytes() / 1024);
  CHECK(all >= kWantedSamples);
  // A walk can find a library in the middle of being loaded or unloaded; that must be rare.
  CHECK(complete * 100 >= all * 98);
  // Two files were loaded thousands of times: two identities.
  CHECK(announced == before + 2);
  CHECK(module_table_bytes() < 8u << 20);
}
