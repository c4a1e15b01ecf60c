#include "hpcrun/memory/isolating.h"

#include "hpcrun/memory/counted_writes.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/moved_code.h"

namespace hpcrun {

constinit std::atomic<const Isolation*> isolation{nullptr};
constinit CodeRange c_library;

bool isolates_pages() noexcept {
  return isolation.load(std::memory_order_acquire);
}

bool finds_written_lines() noexcept {
  return isolates_pages() && process_state.config.contention_by_pages;
}

// What the C library allocates for itself and locks by itself is not small: streams, directories, compiled
// expressions.
bool tell_isolation(const void* at, uint64_t bytes, uint64_t caller) noexcept {
  const Isolation* const with = isolation.load(std::memory_order_acquire);
  if (!with || !at) return false;
  constexpr uint64_t kLeastLocked = 128;
  if (!c_library.holds(caller)) {
    with->offer(at, bytes);
    return false;
  }
  if (bytes < kLeastLocked) return false;
  with->close(at, bytes);
  return true;
}

void ask_to_isolate(const PageVerdict& verdict) noexcept {
  const Isolation* const with = isolation.load(std::memory_order_acquire);
  if (!with) return;
  const PageRequest page{verdict.page, verdict.is_allocation, verdict.share_ppm};
  if (!verdict.has_locks && !verdict.has_true_sharing) return with->isolate(page);
  with->decline(page, verdict.has_locks ? WhyShared::AtomicUse : WhyShared::TrueSharing);
}

bool is_common_memory(const void* at) noexcept {
  const Isolation* const with = isolation.load(std::memory_order_acquire);
  return with && with->is_common(at);
}

void rest_isolation(bool is_about_to_execute) noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire))
    with->execute(is_about_to_execute);
}

void stay_at_home() noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire)) with->stay_home();
}

void forget_isolating() noexcept {
  isolation.store(nullptr, std::memory_order_relaxed);
  process_state.let_calls_pass.store(nullptr, std::memory_order_relaxed);
  leave_moved_code.store(nullptr, std::memory_order_relaxed);
  written_lines.forget();
}

}  // namespace hpcrun
