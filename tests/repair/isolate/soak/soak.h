#pragma once
// Parts of a program whose threads do at random what programs do, while pages of theirs are isolated
// (tools/soak). A part has actions, of which each worker takes one after the other, and looks at rest, when
// there is one thread, whether its totals are exact. Whatever is wrong ends the program with one line and
// status 1.

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
  unsigned weight;  // against those of all other actions
  void (*run)(Worker&);
};

struct Part {
  std::span<const Action> actions;
  void (*begin)();  // of the program
  void (*rest)();   // after every round
};

extern const Part words, locks, memory, threads, signals, processes;

// Threads that run actions.
pthread_t worker_thread(int number) noexcept;

// A worker's own words, side by side with those of others: it adds to some, and looks at some of others.
void add_to_words(Worker& worker);
// In a forked child: those of the thread that forked are what it made them.
bool has_own_words(const Worker& worker);

// Forks end isolation until the program has one thread, so they come at the end of some rounds.
bool is_time_to_fork() noexcept;

// In a thread that is to be cancelled: the C library may cancel it also in a handler that has interrupted the
// call that it waits in, and the handler would not count its signal.
void block_own_signals();
// Signals that were sent are all received before a worker ends.
void await_own_signals();
// To stderr: which signals wait for each thread, and for each converted thread, and which they block.
void print_signals();

bool has_children();  // converted threads are children as well

// What there is of the process when it has one thread.
struct Rest {
  size_t descriptors = 0;
  size_t mappings = 0;
  size_t common_kb = 0;  // of memory
  size_t own_kb = 0;
};
// When all other threads and all children are gone.
Rest look_at_rest();

// What there was at rests, the first ones against the last ones.
class Growth {
 public:
  void add(const Rest& rest) { rests_.push_back(rest); }
  // Whether there were enough.
  bool is_known() const;
  void check() const;

 private:
  // The very first ones make what stays. Of all others, some ten in 20 s, the first third is compared with
  // the last one.
  static constexpr size_t kWarm = 5, kLeast = 2, kMost = 40;
  std::vector<Rest> rests_;
};

}  // namespace soak
