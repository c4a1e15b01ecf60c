#pragma once
// Parts of a program whose threads do at random what programs do while some of their pages are isolated
// (tools/soak). A part has actions, which each worker takes one after the other. At rest, when there is one
// thread, it checks that its totals are exact. Any error ends the program with one line and status 1.

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#define SOAK_REQUIRE(condition)                                        \
  do {                                                                 \
    if (condition) break;                                              \
    dprintf(2, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    _exit(1);                                                          \
  } while (false)

namespace soak {

constexpr int kWorkers = 4;
constexpr size_t kPage = 4096;

struct Worker {
  int number = 0;
  std::mt19937 random{};

  uint64_t below(uint64_t limit) { return random() % limit; }
};

struct Action {
  const char* name;
  unsigned weight;  // relative to those of all other actions
  void (*run)(Worker&);
};

struct Part {
  std::span<const Action> actions;
  void (*begin)();  // at the start of the program
  void (*rest)();   // after every round
};

extern const Part words, locks, memory, threads, signals, processes;

// Returns a thread that runs actions.
pthread_t worker_thread(int number) noexcept;

// Adds to some of a worker's own words, which are adjacent to those of other workers, and checks others.
void add_to_words(Worker& worker);
// Called in a forked child. True if the words of the thread that forked have the values that it wrote.
bool has_own_words(const Worker& worker);

// Forks end isolation until the program has one thread, so they happen at the end of some rounds.
bool is_time_to_fork() noexcept;

// Called in a thread that is about to be cancelled. The C library may cancel it in a handler that interrupted
// the waiting call, and the handler would not count its signal.
void block_own_signals();
// Waits until all signals that were sent have been received, before a worker ends.
void await_own_signals();
// Prints the pending and blocked signals of each thread and each converted thread to stderr.
void print_signals();

bool has_children();  // converted threads are children too

// The resources of the process when it has one thread.
struct Rest {
  size_t descriptors = 0;
  size_t mappings = 0;
  size_t common_kb = 0;  // of memory
  size_t own_kb = 0;
};
// Measures them when all other threads and all children are gone.
Rest look_at_rest();

// Compares the resources at the first rests with those at the last ones.
class Growth {
 public:
  void add(const Rest& rest) { rests_.push_back(rest); }
  // True if there were enough rests.
  bool is_known() const;
  void check() const;

 private:
  // Skips the very first rests, which allocate permanently. Of the others, about ten in 20 s, the first third
  // is compared with the last.
  static constexpr size_t kWarm = 5, kMinRests = 2, kMaxRests = 40;
  std::vector<Rest> rests_;
};

}  // namespace soak
