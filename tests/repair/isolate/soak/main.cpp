// soak SECONDS SEED: threads do at random all that programs do, in rounds, at whose ends there is one thread
// and all totals are exact. For tools/soak, which has their pages isolated meanwhile.

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

// No action leaves signals blocked.
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
  pthread_barrier_wait(&barrier);  // nobody sends any more
  await_own_signals();
  pthread_barrier_wait(&barrier);
}

void pass_time(double seconds) {
  timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  const double at = static_cast<double>(end.tv_nsec) / 1e9 + seconds;
  end.tv_sec += static_cast<time_t>(at);
  end.tv_nsec = static_cast<long>((at - static_cast<double>(static_cast<time_t>(at))) * 1e9);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nullptr) != 0) continue;
}

// A round of some seconds; `forking` of them at its end.
void run_round(double seconds, double forking) {
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
  pass_time(seconds - forking);
  forks = forking > 0;
  pass_time(forking);
  is_over = true;
  for (const pthread_t thread : worker_threads) SOAK_REQUIRE(pthread_join(thread, nullptr) == 0);
  for (const Part* part : kParts) part->rest();
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
  const time_t begin = time(nullptr);
  // The first rounds make what stays, pieces of the heap above all, of which busy machines have some hundred
  // later.
  constexpr int kFirst = 9;
  Rest after_first, last;
  int rounds = 0;
  do {
    const double length = 0.5 + static_cast<double>(random() % 1'000) / 1e3;
    run_round(length, rounds % 3 == 1 ? length / 4 : 0);
    last = look_at_rest();
    dprintf(2, "round %d: %zu descriptors, %zu mappings, %zu MiB\n", rounds, last.descriptors, last.mappings,
            last.megabytes);
    if (rounds < kFirst) {
      after_first.descriptors = std::max(after_first.descriptors, last.descriptors);
      after_first.mappings = std::max(after_first.mappings, last.mappings);
      after_first.megabytes = std::max(after_first.megabytes, last.megabytes);
    }
    ++rounds;
    // Not after forks, which leave the memory in pieces until threads are made.
  } while (rounds <= kFirst || rounds % 3 == 2 || static_cast<double>(time(nullptr) - begin) < seconds);
  SOAK_REQUIRE(last.descriptors <= after_first.descriptors);
  SOAK_REQUIRE(last.mappings <= after_first.mappings + 256);
  SOAK_REQUIRE(last.megabytes <= 2 * after_first.megabytes + 64);
  printf("%d rounds, seed %u: all is right\n", rounds, seed);
  return 0;
}
