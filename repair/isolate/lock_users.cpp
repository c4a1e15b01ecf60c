#include "repair/isolate/lock_users.h"

#include <time.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/lock_protocol.h"
#include "repair/isolate/thread_record.h"
#include "repair/isolate/twin.h"
#include "repair/isolate/twin_pages.h"

namespace hpcrun {

constinit std::atomic<uint32_t> known_mutexes{0};

namespace {

constinit std::atomic<bool> are_followed{false};

// The place of the record, and the number of the time that its thread has pages (PrivatePages::number()).
static_assert(kMaxThreads == 1 << 12);
constexpr unsigned kPlaceBits = 12;

LockUser calling_user(const PrivatePages* own) noexcept {
  const ThreadRecord* const record = this_record();
  return own && own->count() > 0 && record ? own->number() << kPlaceBits | place_of(*record) : kNobody;
}

// Of one mutex until all is forgotten. A cache line: threads with different mutexes do not meet here.
class alignas(64) KnownMutex {
 public:
  std::atomic<const void*> mutex{nullptr};

  LockUser load() const noexcept { return user_.load(std::memory_order_relaxed); }
  void store(LockUser user) noexcept { user_.store(user, std::memory_order_relaxed); }
  LockHistory& history() noexcept { return history_; }
  void forget() noexcept {
    store(kNobody);
    history_ = {};
    mutex.store(nullptr, std::memory_order_relaxed);
  }

 private:
  std::atomic<LockUser> user_{kNobody};
  LockHistory history_;
};
constexpr uint32_t kPlaces = 1024;
constexpr uint32_t kTries = 4;
constinit KnownMutex known[kPlaces];

KnownMutex* find(const void* mutex, bool adds) noexcept {
  const auto first = static_cast<uint32_t>(reinterpret_cast<uint64_t>(mutex) / 8 * 0x9e3779b97f4a7c15u >> 40);
  for (uint32_t step = 0; step < kTries; ++step) {
    KnownMutex& place = known[(first + step) % kPlaces];
    const void* there = place.mutex.load(std::memory_order_relaxed);
    if (there == mutex) return &place;
    if (there) continue;
    if (!adds) return nullptr;
    if (place.mutex.compare_exchange_strong(there, mutex, std::memory_order_relaxed)) {
      known_mutexes.fetch_add(1, std::memory_order_relaxed);
      return &place;
    }
    if (there == mutex) return &place;
  }
  return nullptr;
}

// The calling thread; its pages, or nullptr.
class Caller {
 public:
  explicit Caller(PrivatePages* own) noexcept : own_(own) {}

  void commit(Stores stores) noexcept {
    if (own_) own_->commit(stores);
  }
  void owe() noexcept { own_->owe(); }

  bool has_left(LockUser user) const noexcept { return pages(user).number() != user >> kPlaceBits; }
  bool owes(LockUser user) const noexcept { return pages(user).owes(); }
  uint64_t own_commits_of(LockUser user) const noexcept { return pages(user).own_commits(); }
  void ask_to_commit(LockUser user) noexcept { hpcrun::ask_to_commit(record(user)); }
  void wait_a_moment() noexcept {
    const timespec soon{0, 20'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&soon), 0);
  }

 private:
  static ThreadRecord& record(LockUser user) noexcept {
    return first_record()[user & ((1u << kPlaceBits) - 1)];
  }
  static const PrivatePages& pages(LockUser user) noexcept { return pages_of(record(user)); }

  PrivatePages* own_;
};

}  // namespace

void follow_lock(const void* mutex) noexcept {
  PrivatePages* const own = own_pages;
  Caller caller(own);
  const LockUser self = calling_user(own);
  const bool adds = self != kNobody && are_followed.load(std::memory_order_relaxed);
  take_lock(caller, find(mutex, adds), self);
}

void follow_unlock(const void* mutex) noexcept {
  PrivatePages* const own = own_pages;
  Caller caller(own);
  const LockUser self = calling_user(own);
  before_release(caller, self == kNobody ? nullptr : find(mutex, false), self);
}

void begin_lock_users(bool follows) noexcept {
  are_followed.store(follows, std::memory_order_relaxed);
  for (KnownMutex& place : known) place.forget();
  known_mutexes.store(0, std::memory_order_relaxed);
}

}  // namespace hpcrun
