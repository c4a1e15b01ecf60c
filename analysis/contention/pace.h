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

  // The part (0 to 1) of the thread's time at these lines that it would not need if it had them for itself.
  // nullopt: nothing that it does there could be followed.
  std::optional<double> cost(uint32_t thread, const std::vector<uint64_t>& lines) const;

 private:
  struct Rates {
    std::vector<double> alone, together;  // change by nanosecond of CPU time
  };
  using Values = std::map<uint16_t, Rates>;

  static std::optional<double> ratio(const Rates& rates);

  std::map<std::pair<uint32_t, uint64_t>, Values> values_;  // by thread and line
  std::map<uint32_t, uint64_t> cpu_ns_;
};

}  // namespace prof
