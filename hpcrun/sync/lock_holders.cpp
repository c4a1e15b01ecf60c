#include "hpcrun/sync/lock_holders.h"

#include <pthread.h>

#include <cstddef>

#include "hpcrun/guest/safe_load.h"
#include "hpcrun/sync/shadow_lock.h"

namespace hpcrun {

namespace {

constexpr unsigned kKindShift = 56;

// The owner in glibc's pthread_mutex_t, which is also its mtx_t, and in pthread_rwlock_t: int fields.
constexpr size_t kMutexOwner = offsetof(pthread_mutex_t, __data.__owner);
constexpr size_t kWriter = offsetof(pthread_rwlock_t, __data.__cur_writer);

int holder_in(const char* field, bool is_ours) noexcept {
  int holder = 0;
  if (is_ours)
    holder = __atomic_load_n(reinterpret_cast<const int*>(field), __ATOMIC_RELAXED);
  else if (!safe_read(reinterpret_cast<uint64_t>(field), &holder, sizeof holder))
    return 0;
  return holder > 0 ? holder : 0;
}

// Returns the holder of a lock that was moved to a line of its own; 0: it was not moved.
int holder_in_shadow(const void* lock, LockKind kind) noexcept {
  uint64_t address = 0;
  ShadowLock shadow{};
  if (!safe_read(reinterpret_cast<uint64_t>(lock) + kShadowAddress, &address, sizeof address) ||
      address == 0 || address % sizeof shadow != 0 || !safe_read(address, &shadow, sizeof shadow) ||
      shadow.original.load(std::memory_order_relaxed) != lock)
    return 0;
  return kind == LockKind::Mutex ? shadow.mutex.__data.__owner : shadow.read_write.__data.__cur_writer;
}

}  // namespace

int holder_of(const void* lock, LockKind kind, bool is_ours) noexcept {
  if (kind != LockKind::Mutex && kind != LockKind::ReadWriteLock) return 0;
  const auto* const begin = static_cast<const char*>(lock);
  const int holder = holder_in(begin + (kind == LockKind::Mutex ? kMutexOwner : kWriter), is_ours);
  return holder ? holder : holder_in_shadow(lock, kind);
}

uint32_t LockHolders::begin(int thread, const void* lock, LockKind kind) noexcept {
  if (!is_used_.load(std::memory_order_relaxed)) is_used_.store(true, std::memory_order_relaxed);
  const uint64_t waited = static_cast<uint64_t>(kind) << kKindShift | reinterpret_cast<uint64_t>(lock);
  for (uint32_t i = 0; i < kProbes; ++i) {
    const uint32_t at = (static_cast<uint32_t>(thread) + i) % kSlots;
    int none = 0;
    if (!slots_[at].thread.compare_exchange_strong(none, thread, std::memory_order_seq_cst)) continue;
    slots_[at].waited.store(waited, std::memory_order_seq_cst);
    return at;
  }
  return kNoSlot;
}

void LockHolders::end(uint32_t slot) noexcept {
  if (slot == kNoSlot) return;
  slots_[slot].waited.store(0, std::memory_order_relaxed);
  slots_[slot].thread.store(0, std::memory_order_release);
}

LockHolders::Waited LockHolders::waited_of(const Slot& slot) noexcept {
  const uint64_t waited = slot.waited.load(std::memory_order_seq_cst);
  constexpr uint64_t kAddress = (uint64_t{1} << kKindShift) - 1;
  return {reinterpret_cast<const void*>(waited & kAddress), static_cast<LockKind>(waited >> kKindShift)};
}

LockHolders::Waited LockHolders::waited_by(int thread) const noexcept {
  for (uint32_t i = 0; i < kProbes; ++i) {
    const Slot& slot = slots_[(static_cast<uint32_t>(thread) + i) % kSlots];
    if (slot.thread.load(std::memory_order_seq_cst) == thread) return waited_of(slot);
  }
  return {};
}

void LockHolders::reset_after_fork() noexcept {
  if (!is_used_.load(std::memory_order_relaxed)) return;
  for (Slot& slot : slots_) {
    if (!slot.thread.load(std::memory_order_relaxed)) continue;
    slot.waited.store(0, std::memory_order_relaxed);
    slot.thread.store(0, std::memory_order_relaxed);
  }
}

}  // namespace hpcrun
