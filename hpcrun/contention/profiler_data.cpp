#include "hpcrun/contention/profiler_data.h"

#include <atomic>
#include <string_view>

#include "hpcrun/guest/own_ranges.h"

namespace hpcrun {

namespace {

// The runtime, and its libraries for the heap, locks, isolation, OpenCL and MPI; twice as many, because a
// program may unload and reload them.
constexpr uint32_t kMaxModules = 12;

struct Range {
  std::atomic<uint64_t> start{};
  std::atomic<uint64_t> end{};  // 0 until the range is known
};

constinit Range ranges[kMaxModules];
constinit std::atomic<uint32_t> range_count{0};

bool is_profilers(std::string_view path) noexcept {
  std::string_view name = path;
  name.remove_prefix(path.rfind('/') + 1);
  return name.starts_with("libprof-");
}

}  // namespace

void note_profiler_data(const char* path, uint64_t start, uint64_t end) noexcept {
  if (!is_profilers(path)) return;
  for (const Range& range : ranges)
    if (range.start.load(std::memory_order_relaxed) == start) return;  // announced again, to a forked child
  const uint32_t number = range_count.fetch_add(1, std::memory_order_relaxed);
  if (number >= kMaxModules) return;
  ranges[number].start.store(start, std::memory_order_relaxed);
  ranges[number].end.store(end, std::memory_order_release);
}

bool is_profiler_data(uint64_t address) noexcept {
  for (const Range& range : ranges) {
    const uint64_t end = range.end.load(std::memory_order_acquire);
    if (end == 0) break;
    if (address >= range.start.load(std::memory_order_relaxed) && address < end) return true;
  }
  return is_in_own_range(address);
}

}  // namespace hpcrun
