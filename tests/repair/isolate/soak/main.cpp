// soak SECONDS SEED: threads do at random everything that programs do, in rounds. At the end of each there is
// one thread and all totals are exact. For tools/soak, which isolates their pages meanwhile.

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "soak.h"

namespace soak {

namespace {

constexpr const Part* kParts[] = {&words, &locks, &memory, &threads, &signals, &processes};

Worker workers[kWorkers];
pthread_t worker_threads[kWorkers];
alignas(kPage) pthread_barrier_t barrier;
alignas(kPage) std::atomic<bool> is_over, forks;

const Action& any_action(Worker& worker) {
  static const std::vector<Action> all = [] {
    std::vector<Action> actions;
    for (const Part* part : kParts) actions.insert(actions.end(), part->actions.begin(), part->actions.end());
    return actions;
  }();
  static const unsigned weight = [] {
    unsigned sum = 0;
    for (const Action& action : all) sum += action.weight;
    return sum;
  }();
  uint64_t at = worker.below(weight);
  auto chosen = all.begin();
  for (; at >= chosen->weight; ++chosen) at -= chosen->weight;
  return *chosen;
}

// Checks that no action leaves signals blocked.
void check_mask(const char* after) {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  const auto bits = *reinterpret_cast<const uint64_t*>(&blocked);
  if (bits) dprintf(2, "after: %s, blocked: %lx\n", after, bits);
  SOAK_REQUIRE(!bits);
}

void work(Worker& worker) {
  pthread_barrier_wait(&barrier);  // all are known
  while (!is_over.load(std::memory_order_relaxed)) {
    const Action& action = any_action(worker);
    action.run(worker);
    check_mask(action.name);
    add_to_words(worker);
    check_mask("add to words");
  }
  pthread_barrier_wait(&barrier);  // no thread sends any more
  await_own_signals();
  pthread_barrier_wait(&barrier);
}

double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Returns how often there was a child at a check: nearly always a converted thread.
double pass_time(double seconds) {
  int looks = 0, seen = 0;
  for (const double end = now() + seconds; now() < end; ++looks) {
    seen += has_children();
    usleep(static_cast<useconds_t>(std::clamp(end - now(), 0.0, 0.02) * 1e6));
  }
  return looks ? static_cast<double>(seen) / looks : 0;
}

// A round of some seconds, which forks during the last `forking` seconds. Returns the share of the time
// before in which there were converted threads.
double run_round(double seconds, double forking) {
  is_over = forks = false;
  pthread_barrier_init(&barrier, nullptr, kWorkers);
  for (int number = 0; number < kWorkers; ++number)
    SOAK_REQUIRE(pthread_create(
                     &worker_threads[number], nullptr,
                     [](void* worker) -> void* {
                       work(*static_cast<Worker*>(worker));
                       return nullptr;
                     },
                     &workers[number]) == 0);
  const double converted_threads = pass_time(seconds - forking);
  forks = forking > 0;
  pass_time(forking);
  is_over = true;
  for (const pthread_t thread : worker_threads) SOAK_REQUIRE(pthread_join(thread, nullptr) == 0);
  for (const Part* part : kParts) part->rest();
  return converted_threads;
}

}  // namespace

pthread_t worker_thread(int number) noexcept {
  return worker_threads[number];
}

bool is_time_to_fork() noexcept {
  return forks.load(std::memory_order_relaxed);
}

}  // namespace soak

int main(int argc, char** argv) {
  using namespace soak;
  if (argc != 3) return 2;
  const double seconds = atof(argv[1]);
  const auto seed = static_cast<unsigned>(strtoul(argv[2], nullptr, 10));
  std::mt19937 random(seed);
  for (int number = 0; number < kWorkers; ++number) workers[number] = {number, std::mt19937(random())};
  for (const Part* part : kParts) part->begin();
  const double begin = now();
  Growth growth;
  int rounds = 0, with_converted_threads = 0;
  do {
    const double length = 0.5 + static_cast<double>(random() % 1'000) / 1e3;
    const bool forks = rounds % 3 == 1;
    const double converted_threads = run_round(length, forks ? length / 4 : 0);
    const Rest rest = look_at_rest();
    dprintf(2, "round %d: %zu descriptors, %zu mappings, %zu + %zu KiB, %.0f %%\n", rounds, rest.descriptors,
            rest.mappings, rest.common_kb, rest.own_kb, 100 * converted_threads);
    with_converted_threads += converted_threads > 0.25;
    if (!forks) growth.add(rest);
    ++rounds;
    // Not after forks, which leave the memory in pieces until threads are created.
  } while (rounds % 3 == 2 || !growth.is_known() || now() - begin < seconds);
  growth.check();
  printf("%d rounds, %d with converted threads, seed %u: all is right\n", rounds, with_converted_threads,
         seed);
  return 0;
}
