// Everything at once that profilers deadlock on: stress SECONDS PLUGIN. Each loop counts its turns. The
// program ends with status 42 if every loop made turns and each turn had the right result.

#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "spin.h"

namespace {

std::atomic<bool> stop{false};
std::atomic<uint64_t> wrong{0};
const char* plugin_path;

void expect(bool holds) {
  if (!holds) wrong.fetch_add(1, std::memory_order_relaxed);
}

void load_and_unload(std::atomic<uint64_t>& turns) {
  while (!stop) {
    void* plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
    expect(plugin != nullptr);
    if (plugin == nullptr) return;
    const auto work = reinterpret_cast<uint64_t (*)(uint64_t)>(dlsym(plugin, "plugin_work"));
    expect(work != nullptr && work(turns) != 0);
    expect(dlclose(plugin) == 0);
    ++turns;
  }
}

void allocate(std::atomic<uint64_t>& turns) {
  std::vector<char*> kept(64, nullptr);
  uint64_t state = 7;
  while (!stop) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    char*& slot = kept[(state >> 40) % kept.size()];
    std::free(slot);
    const size_t bytes = size_t{1} << ((state >> 50) % 22);
    slot = static_cast<char*>(std::malloc(bytes));
    expect(slot != nullptr);
    std::memset(slot, 1, bytes < 4096 ? bytes : 4096);
    ++turns;
  }
  for (char* slot : kept) std::free(slot);
}

[[gnu::noinline]] int throw_from_depth(int depth) {
  if (depth == 0) throw std::runtime_error("deep");
  const std::string holds_memory(static_cast<size_t>(depth) * 8, 'x');
  return throw_from_depth(depth - 1) + static_cast<int>(holds_memory.size());
}

void throw_and_catch(std::atomic<uint64_t>& turns) {
  while (!stop) {
    try {
      throw_from_depth(20);
      expect(false);
    } catch (const std::runtime_error& error) {
      expect(std::strcmp(error.what(), "deep") == 0);
    }
    ++turns;
  }
}

void expect_status(pid_t child, int status) {
  int result = 0;
  expect(waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == status);
}

void fork_and_exec(std::atomic<uint64_t>& turns) {
  char program[] = "/bin/true";
  char* arguments[] = {program, nullptr};
  char* no_environment[] = {nullptr};
  while (!stop) {
    const pid_t forked = fork();
    if (forked == 0) _exit(3);
    expect_status(forked, 3);

    const pid_t executed = fork();
    if (executed == 0) {
      execve(program, arguments, turns % 16 == 0 ? environ : no_environment);
      _exit(4);
    }
    expect_status(executed, 0);

    pid_t spawned = 0;
    expect(posix_spawn(&spawned, program, nullptr, nullptr, arguments, no_environment) == 0);
    expect_status(spawned, 0);
    ++turns;
  }
}

void create_and_join(std::atomic<uint64_t>& turns) {
  while (!stop) {
    std::atomic<uint64_t> sum{0};
    std::thread first([&] { sum += spin_steps(1) != 0 ? 1 : 0; });
    std::thread second([&] { sum += 1; });
    first.join();
    second.join();
    expect(sum == 2);
    ++turns;
  }
}

}  // namespace

int main(int, char** argv) {
  const double seconds = std::atof(argv[1]);
  plugin_path = argv[2];
  struct Loop {
    const char* name;
    void (*body)(std::atomic<uint64_t>&);
    std::atomic<uint64_t> turns{0};
  };
  Loop loops[] = {{"dlopen", load_and_unload}, {"dlopen", load_and_unload}, {"malloc", allocate},
                  {"malloc", allocate},        {"throw", throw_and_catch},  {"throw", throw_and_catch},
                  {"exec", fork_and_exec},     {"thread", create_and_join}, {"thread", create_and_join}};
  std::vector<std::thread> threads;
  for (Loop& loop : loops) threads.emplace_back(loop.body, std::ref(loop.turns));
  const double end = clock_seconds(CLOCK_MONOTONIC) + seconds;
  while (clock_seconds(CLOCK_MONOTONIC) < end) {
    timespec nap{0, 50'000'000};
    nanosleep(&nap, nullptr);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();

  bool all_turned = true;
  for (Loop& loop : loops) {
    std::fprintf(stderr, "%s %llu\n", loop.name, static_cast<unsigned long long>(loop.turns.load()));
    all_turned = all_turned && loop.turns > 0;
  }
  std::printf("all loops turned: %s, wrong: %llu\n", all_turned ? "yes" : "no",
              static_cast<unsigned long long>(wrong.load()));
  return all_turned && wrong == 0 ? 42 : 1;
}
