#pragma once
// What contention costs a thread: how fast it goes on at a line while all others are held, against how fast
// otherwise (hpcrun/memory/pace.h, hold.h). Of the numbers that changed between samples those are loop
// counters that grow evenly while the thread is alone.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace prof {

struct PaceChange {
  uint64_t line = 0;
  uint16_t value = 0;  // which number changed
  int64_t change = 0;
  uint64_t cpu_ns = 0;  // in which it did
  bool is_alone = false;
};

// The part (0 to 1) of a thread's time that it would not need without the others.
struct PaceCost {
  double value = 0;
  // An estimated interval around it, wider where few windows of time were compared. The low end counts that
  // the others, when they go on with data of their own, share processor and memory with it; the high end,
  // that they did not run all the time.
  double low = 0;
  double high = 0;
};

// Returns whether a saving, in seconds, is possible for data at whose lines samples found `weight_s`. Time
// that contention costs is spent at the lines, and it is most of the time there. A run in which the threads
// hardly ran at the same time shows next to nothing of it, and its saving must not be reported.
bool agrees_with_samples(const PaceCost& saving_s, double weight_s);

class Paces {
 public:
  void add(uint32_t thread, const PaceChange& change);

  // CPU time of the thread in all, more than which it cannot be busy anywhere.
  void add_thread(uint32_t thread, uint64_t cpu_ns) { cpu_ns_[thread] = cpu_ns; }

  // UINT64_MAX where it is not known.
  uint64_t cpu_ns(uint32_t thread) const {
    const auto known = cpu_ns_.find(thread);
    return known == cpu_ns_.end() || known->second == 0 ? UINT64_MAX : known->second;
  }

  // Of the thread's time at these lines, if it had them for itself. nullopt: nothing that it does there could
  // be followed.
  std::optional<PaceCost> cost(uint32_t thread, const std::vector<uint64_t>& lines) const;

 private:
  struct Rates {
    std::vector<double> alone, together;  // change by nanosecond of CPU time
  };
  using Values = std::map<uint16_t, Rates>;

  static std::optional<PaceCost> cost_of(const Rates& rates);

  std::map<std::pair<uint32_t, uint64_t>, Values> values_;  // by thread and line
  std::map<uint32_t, uint64_t> cpu_ns_;
};

}  // namespace prof
