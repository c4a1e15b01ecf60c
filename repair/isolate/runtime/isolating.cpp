#include "repair/isolate/runtime/isolating.h"

#include "hpcrun/contention/counted_writes.h"
#include "hpcrun/heap/allocation_hooks.h"
#include "hpcrun/sample/state.h"
#include "hpcrun/unwind/moved_code.h"
#include "repair/isolate/runtime/isolation_state.h"

namespace hpcrun {

constinit std::atomic<const Isolation*> isolation{nullptr};
constinit CodeRange c_library;
constinit int isolation_signal = 0;

bool isolates_pages() noexcept {
  return isolation.load(std::memory_order_acquire);
}

bool finds_written_lines() noexcept {
  return isolates_pages() && process_state.config.contention_by_pages;
}

// The C library's own locked data (streams, directories, compiled expressions) is larger than the limit.
bool offer_allocation(const void* at, uint64_t bytes, uint64_t caller) noexcept {
  const Isolation* const with = isolation.load(std::memory_order_acquire);
  if (!with || !at) return false;
  constexpr uint64_t kMinLockedBytes = 128;
  if (!c_library.holds(caller)) {
    with->offer(at, bytes);
    return false;
  }
  if (bytes < kMinLockedBytes) return false;
  with->close(at, bytes);
  return true;
}

void isolate_page(const PageRequest& page) noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire)) with->isolate(page);
}

void leave_page(const PageRequest& page, WhyShared why) noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire)) with->decline(page, why);
}

bool is_common_memory(const void* at) noexcept {
  const Isolation* const with = isolation.load(std::memory_order_acquire);
  return with && with->is_common(at);
}

uint64_t request_signals() noexcept {
  return isolates_pages() ? uint64_t{1} << (isolation_signal - 1) : 0;
}

void rest_isolation(bool is_about_to_execute) noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire))
    with->execute(is_about_to_execute);
}

void stay_home() noexcept {
  if (const Isolation* const with = isolation.load(std::memory_order_acquire)) with->stay_home();
}

void reset_isolation_after_fork() noexcept {
  isolation.store(nullptr, std::memory_order_relaxed);
  allocation_hooks.made.store(nullptr, std::memory_order_relaxed);
  allocation_hooks.released.store(nullptr, std::memory_order_relaxed);
  conversion_calls.let_calls_pass.store(nullptr, std::memory_order_relaxed);
  conversion_calls.return_from_handler.store(nullptr, std::memory_order_relaxed);
  leave_moved_code.store(nullptr, std::memory_order_relaxed);
  written_lines.reset_after_fork();
}

}  // namespace hpcrun
