#include "repair/isolate/memory/thread_stacks.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <atomic>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/memory/common_calls.h"
#include "repair/isolate/memory/common_memory.h"
#include "repair/isolate/contract/pages.h"

namespace hpcrun {

namespace {

// No system has more threads at the same time by default (kernel.threads-max, vm.max_map_count).
constexpr uint32_t kMaxStacks = 1 << 16;
// The limit of stacks kept for later threads, which is that of the C library's cache (stack_cache_size).
constexpr uint64_t kMaxIdleBytes = uint64_t{40} << 20;
// The number of possibly ended threads that are checked at each creation.
constexpr uint32_t kMaxAsked = 8;

enum class Use : uint32_t {
  None,  // the entry has no stack
  Idle,
  Owned,  // a thread may still join this one
  Left,
  Changing,  // some thread works on the entry
};

constexpr int kNever = -1;  // the process was forked when the thread was about to run it

struct Entry : ThreadStack {
  std::atomic<Use> use{Use::None};
  std::atomic<int> thread{0};  // 0: not running yet, or kNever
};

std::atomic<Entry*> entries{nullptr};
std::atomic<uint32_t> entries_used{0};
std::atomic<uint64_t> idle_bytes{0};
std::atomic<uint32_t> next_asked{0};
std::atomic<bool> is_collecting{false};

Entry* table() noexcept {
  Entry* now = entries.load(std::memory_order_acquire);
  if (now) return now;
  const long made = common_mmap(nullptr, kMaxStacks * sizeof(Entry), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made < 0 && made > -4096) return nullptr;
  auto* const mine = reinterpret_cast<Entry*>(made);
  if (entries.compare_exchange_strong(now, mine)) return mine;
  common_munmap(mine, kMaxStacks * sizeof(Entry));
  return now;
}

bool change(Entry& entry, Use from, Use to) noexcept {
  return entry.use.compare_exchange_strong(from, to, std::memory_order_acq_rel);
}

bool is_gone(const Entry& entry) noexcept {
  const int thread = entry.thread.load(std::memory_order_acquire);
  // Another thread of the program may have the number; this stack is then checked again later.
  return thread && (thread == kNever || raw_syscall(SYS_tgkill, sys_getpid(), thread, 0) == -ESRCH);
}

void unmap(Entry& entry) noexcept {
  common_munmap(reinterpret_cast<void*>(entry.low), entry.high - entry.low);
  entry.use.store(Use::None, std::memory_order_release);
}

// Keeps the stack for other threads, or frees it.
void put_by(Entry& entry) noexcept {
  const uint64_t bytes = entry.high - entry.low;
  entry.thread = 0;
  if (idle_bytes.fetch_add(bytes) + bytes > kMaxIdleBytes) {
    idle_bytes.fetch_sub(bytes);
    unmap(entry);
  } else {
    entry.use.store(Use::Idle, std::memory_order_release);
  }
}

// One caller at a time. A caller that found a thread ended and is interrupted could otherwise take the stack,
// after others have reused it, from the next thread that runs on it.
void collect(Entry* stacks, uint32_t count) noexcept {
  if (is_collecting.exchange(true, std::memory_order_acquire)) return;
  const uint32_t begin = count ? next_asked.load(std::memory_order_relaxed) % count : 0;
  uint32_t asked = 0, seen = 0;
  for (; seen < count && asked < kMaxAsked; ++seen) {
    Entry& entry = stacks[(begin + seen) % count];
    if (entry.use.load(std::memory_order_relaxed) != Use::Left) continue;
    ++asked;
    if (is_gone(entry) && change(entry, Use::Left, Use::Changing)) put_by(entry);
  }
  next_asked.store(begin + seen, std::memory_order_relaxed);
  is_collecting.store(false, std::memory_order_release);
}

// The program may have protected a part of it, as Java does with pages of its own.
bool make_usable(Entry& entry) noexcept {
  if (raw_syscall(SYS_mprotect, static_cast<long>(entry.low + entry.guard_bytes),
                  static_cast<long>(entry.bytes()), PROT_READ | PROT_WRITE) < 0)
    return false;
  return !entry.guard_bytes ||
         common_mprotect(reinterpret_cast<void*>(entry.low), entry.guard_bytes, PROT_NONE) == 0;
}

ThreadStack* reuse(Entry* stacks, uint32_t count, uint64_t bytes, uint64_t guard_bytes) noexcept {
  if (!idle_bytes.load(std::memory_order_relaxed)) return nullptr;
  for (uint32_t at = 0; at < count; ++at) {
    Entry& entry = stacks[at];
    if (entry.use.load(std::memory_order_acquire) != Use::Idle || entry.guard_bytes != guard_bytes ||
        entry.bytes() != bytes)
      continue;
    if (!change(entry, Use::Idle, Use::Changing)) continue;
    idle_bytes.fetch_sub(entry.high - entry.low);
    if ((is_common(entry.begin()) || is_common_awaited()) && make_usable(entry)) return &entry;
    unmap(entry);
  }
  return nullptr;
}

ThreadStack* make(Entry* stacks, uint64_t bytes, uint64_t guard_bytes) noexcept {
  for (uint32_t at = 0; at < kMaxStacks; ++at) {
    Entry& entry = stacks[at];
    if (entry.use.load(std::memory_order_relaxed) != Use::None || !change(entry, Use::None, Use::Changing))
      continue;
    uint32_t used = entries_used.load();
    while (used <= at && !entries_used.compare_exchange_weak(used, at + 1)) {
    }
    const long low = common_mmap(nullptr, guard_bytes + bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (low < 0 && low > -4096) {
      entry.use.store(Use::None);
      return nullptr;
    }
    entry.low = static_cast<uint64_t>(low);
    entry.guard_bytes = guard_bytes;
    entry.high = entry.low + guard_bytes + bytes;
    if (make_usable(entry)) return &entry;
    unmap(entry);
    return nullptr;
  }
  return nullptr;
}

Entry* stack_at(uint64_t address) noexcept {
  Entry* const stacks = entries.load(std::memory_order_acquire);
  const uint32_t count = entries_used.load(std::memory_order_acquire);
  for (uint32_t at = 0; stacks && at < count; ++at) {
    const Use use = stacks[at].use.load(std::memory_order_acquire);
    if (use != Use::None && use != Use::Changing && address >= stacks[at].low && address < stacks[at].high)
      return &stacks[at];
  }
  return nullptr;
}

}  // namespace

ThreadStack* take_thread_stack(size_t bytes, size_t guard_bytes, bool is_detached) noexcept {
  Entry* const stacks = common_memory_file() >= 0 || is_common_awaited() ? table() : nullptr;
  if (!stacks) return nullptr;
  bytes = page_up(bytes);
  guard_bytes = page_up(guard_bytes);
  const uint32_t count = entries_used.load(std::memory_order_acquire);
  collect(stacks, count);
  ThreadStack* stack = reuse(stacks, count, bytes, guard_bytes);
  if (!stack) stack = make(stacks, bytes, guard_bytes);
  if (!stack) return nullptr;
  auto& entry = static_cast<Entry&>(*stack);
  entry.thread = 0;
  entry.use.store(is_detached ? Use::Left : Use::Owned, std::memory_order_release);
  return stack;
}

void return_thread_stack(ThreadStack* stack) noexcept {
  auto& entry = static_cast<Entry&>(*stack);
  entry.use.store(Use::Changing);
  put_by(entry);
}

void thread_stack_is_used(ThreadStack* stack, int thread) noexcept {
  static_cast<Entry*>(stack)->thread.store(thread, std::memory_order_release);
}

void thread_stack_is_left(uint64_t address) noexcept {
  if (Entry* const entry = stack_at(address)) change(*entry, Use::Owned, Use::Left);
}

bool is_thread_stack(uint64_t address) noexcept {
  return stack_at(address) != nullptr;
}

size_t guard_of_thread_stack(uint64_t address) noexcept {
  const Entry* const entry = stack_at(address);
  return entry ? entry->guard_bytes : 0;
}

void thread_stacks_after_fork() noexcept {
  is_collecting.store(false);
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  Entry* const stacks = entries.load(std::memory_order_acquire);
  const uint32_t count = entries_used.load(std::memory_order_acquire);
  for (uint32_t at = 0; stacks && at < count; ++at) {
    Entry& entry = stacks[at];
    if (here >= entry.low && here < entry.high && entry.use != Use::None) {
      if (entry.use != Use::Idle) entry.thread = sys_gettid();
    } else if (entry.use == Use::Owned || entry.use == Use::Left) {
      entry.use = Use::Left;
      if (!entry.thread) entry.thread = kNever;
    }
  }
}

}  // namespace hpcrun
