#include "repair/isolate/controller/lock_users.h"

#include <time.h>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/controller/converted_pages.h"
#include "repair/isolate/session/converted_thread.h"

namespace hpcrun {

constinit std::atomic<uint32_t> known_mutexes{0};
constinit KnownMutex known_places[kKnownPlaces];

namespace {

constinit std::atomic<bool> are_followed{false};

constexpr uint32_t kTries = 4;

KnownMutex* find(const void* mutex, bool adds) noexcept {
  const uint32_t first = first_place_of(mutex);
  for (uint32_t step = 0; step < kTries; ++step) {
    KnownMutex& place = known_places[(first + step) % kKnownPlaces];
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

// The calling thread, with its pages or nullptr.
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
  const LockUser self = own ? user_of(*own) : kNobody;
  const bool adds = self != kNobody && are_followed.load(std::memory_order_relaxed);
  take_lock(caller, find(mutex, adds), self);
}

void follow_unlock(const void* mutex) noexcept {
  PrivatePages* const own = own_pages;
  Caller caller(own);
  const LockUser self = own ? user_of(*own) : kNobody;
  before_release(caller, self == kNobody ? nullptr : find(mutex, false), self);
}

void begin_lock_users(bool follows) noexcept {
  are_followed.store(follows, std::memory_order_relaxed);
  for (KnownMutex& place : known_places) place.clear();
  known_mutexes.store(0, std::memory_order_relaxed);
}

}  // namespace hpcrun
