#include "repair/isolate/lock_users.h"

#include <time.h>

#include <algorithm>

#include "hpcrun/guest/syscalls.h"
#include "repair/isolate/thread_record.h"
#include "repair/isolate/twin.h"
#include "repair/isolate/twin_pages.h"

namespace hpcrun {

constinit std::atomic<uint32_t> known_mutexes{0};

namespace {

constinit std::atomic<bool> are_followed{false};

// A thread with private pages, for as long as it has them: the place of its record and the number of that
// time (PrivatePages::number()), which no other has.
using User = uint64_t;
constexpr User kNobody = 0;
constexpr User kSeveral = 1;
static_assert(kMaxThreads == 1 << 12);
constexpr unsigned kPlaceBits = 12;

// kNobody: a thread without pages, or outside of sessions.
User calling_user(const PrivatePages* own) noexcept {
  const ThreadRecord* const record = this_record();
  return own && own->count() > 0 && record ? own->number() << kPlaceBits | place_of(*record) : kNobody;
}

// Of one mutex until all is forgotten. A cache line: threads with different mutexes do not meet here.
struct alignas(64) KnownMutex {
  std::atomic<const void*> mutex{nullptr};
  std::atomic<User> user{kNobody};
  // Of kSeveral.
  User last = kNobody;
  uint32_t in_a_row = 0;  // times that the last one took it
  uint32_t asked = 0;     // times that one had to commit for another
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

// Until what the user wrote before it released the mutex, which the calling thread has now, is in common
// memory. False: it has had no private pages since.
bool await_commit(User user, PrivatePages* own) noexcept {
  constexpr uint32_t kPlaceMask = (1u << kPlaceBits) - 1;
  ThreadRecord& record = first_record()[user & kPlaceMask];
  const PrivatePages& pages = pages_of(record);
  const uint64_t number = user >> kPlaceBits;
  if (pages.number() != number) return false;
  // Two threads that wait for each other have committed both.
  if (own) own->commit();
  const uint64_t before = pages.own_commits();
  constexpr uint32_t kAskAgain = 64;  // looks: the kernel may have had no room for a signal
  for (uint32_t looks = 0; pages.owes() && pages.own_commits() == before && pages.number() == number;
       ++looks) {
    if (looks % kAskAgain == 0) ask_to_commit(record);
    const timespec soon{0, 20'000};
    raw_syscall(SYS_nanosleep, reinterpret_cast<long>(&soon), 0);
  }
  return true;
}

// Whose mutex it is once the calling thread has taken it. One of several becomes its only user again who
// takes it so often that being asked for a commit would not have mattered, and more often each time.
User user_after(KnownMutex& place, User user, User self, PrivatePages* own) noexcept {
  constexpr uint32_t kOften = 1'000;
  constexpr uint32_t kMostDoubled = 10;
  if (user != kSeveral) {
    const bool had_user = user != kNobody && await_commit(user, own);
    if (!had_user) return self;
    ++place.asked;
    place.in_a_row = 0;
  }
  place.in_a_row = place.last == self ? place.in_a_row + 1 : 0;
  place.last = self;
  const bool is_alone = self != kNobody && place.in_a_row >= kOften << std::min(place.asked, kMostDoubled);
  return is_alone ? self : kSeveral;
}

}  // namespace

void follow_lock(const void* mutex) noexcept {
  PrivatePages* const own = own_pages;
  const User self = calling_user(own);
  const bool adds = self != kNobody && are_followed.load(std::memory_order_relaxed);
  if (KnownMutex* const place = find(mutex, adds)) {
    const User user = place->user.load(std::memory_order_relaxed);
    if (user != kNobody && user == self) return;
    place->user.store(user_after(*place, user, self, own), std::memory_order_relaxed);
  }
  if (own) own->commit(Stores::Others);
}

void follow_unlock(const void* mutex) noexcept {
  PrivatePages* const own = own_pages;
  const User self = calling_user(own);
  const KnownMutex* const place = self == kNobody ? nullptr : find(mutex, false);
  if (place && place->user.load(std::memory_order_relaxed) == self)
    own->owe();
  else if (own)
    own->commit(Stores::Own);
}

void begin_lock_users(bool follows) noexcept {
  are_followed.store(follows, std::memory_order_relaxed);
  for (KnownMutex& place : known) {
    place.user.store(kNobody, std::memory_order_relaxed);
    place.in_a_row = place.asked = 0;
    place.mutex.store(nullptr, std::memory_order_relaxed);
  }
  known_mutexes.store(0, std::memory_order_relaxed);
}

}  // namespace hpcrun
