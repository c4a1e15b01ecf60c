#include "hpcrun/memory/own_data.h"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace hpcrun {

namespace {

constexpr uint32_t kMaxLibraries = 16;  // twice as many as there are

struct Range {
  std::atomic<uint64_t> low{0};  // 0: being filled in
  std::atomic<uint64_t> high{0};
};

constinit Range ranges[kMaxLibraries];
constinit std::atomic<uint32_t> count{0};

bool is_own(const char* path) noexcept {
  const char* last = path;
  for (const char* at = path; *at; ++at)
    if (*at == '/') last = at + 1;
  const std::string_view name(last);
  return name.starts_with("libhpcrun.so") || name.starts_with("libhpcrun-");
}

}  // namespace

void announce_to_own_data(const ModuleInfo& module) noexcept {
  if (!is_own(module.path) || is_own_data(module.start)) return;
  const uint32_t place = count.fetch_add(1, std::memory_order_relaxed);
  if (place >= kMaxLibraries) return;
  ranges[place].high.store(module.end, std::memory_order_relaxed);
  ranges[place].low.store(module.start, std::memory_order_release);
}

bool is_own_data(uint64_t address) noexcept {
  const uint32_t known = std::min(count.load(std::memory_order_relaxed), kMaxLibraries);
  return std::any_of(ranges, ranges + known, [address](const Range& range) noexcept {
    const uint64_t low = range.low.load(std::memory_order_acquire);
    return low && address >= low && address < range.high.load(std::memory_order_relaxed);
  });
}

}  // namespace hpcrun
