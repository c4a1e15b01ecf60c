#pragma once
// Computes what contention costs a thread: compares its speed at a line while all other threads are held with
// its speed otherwise (hpcrun/contention/loop_progress.h, peer_freeze.h). Speed is measured by loop counters:
// values that changed between samples, and that grow evenly while the thread is alone.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace prof {

struct PaceChange {
  uint64_t line = 0;
  uint16_t value = 0;  // which value changed
  int64_t change = 0;
  uint64_t cpu_ns = 0;  // during which it did
  bool is_alone = false;
};

// The fraction (0 to 1) of a thread's time that it would save without the others.
struct PaceCost {
  double value = 0;
  // An estimated interval around `value`, wider if few time windows were compared. The low end assumes that
  // the others, when they continue with data of their own, share the processor and memory with the thread.
  // The high end assumes that they did not run all the time.
  double low = 0;
  double high = 0;
};

// Returns whether a saving, in seconds, is plausible for data at whose lines samples found `weight_s`. Time
// lost to contention is spent at the lines, and is most of the time there. A run in which the threads hardly
// overlapped shows little of it, and its saving must not be reported.
bool agrees_with_samples(const PaceCost& saving_s, double weight_s);

class Paces {
 public:
  void add(uint32_t thread, const PaceChange& change);

  // Sets the thread's total CPU time, which limits the time that it can be busy anywhere.
  void add_thread(uint32_t thread, uint64_t cpu_ns) { cpu_ns_[thread] = cpu_ns; }

  // Returns UINT64_MAX if it is unknown.
  uint64_t cpu_ns(uint32_t thread) const {
    const auto known = cpu_ns_.find(thread);
    return known == cpu_ns_.end() || known->second == 0 ? UINT64_MAX : known->second;
  }

  // Returns the cost relative to the thread's time at these lines. Returns nullopt if none of its loops there
  // could be followed.
  std::optional<PaceCost> cost(uint32_t thread, const std::vector<uint64_t>& lines) const;

 private:
  struct Rates {
    std::vector<double> alone, together;  // change per nanosecond of CPU time
  };
  using Values = std::map<uint16_t, Rates>;

  static std::optional<PaceCost> cost_of(const Rates& rates);

  std::map<std::pair<uint32_t, uint64_t>, Values> values_;  // by thread and line
  std::map<uint32_t, uint64_t> cpu_ns_;
};

}  // namespace prof
