#pragma once
// Distinguishes a mutex that only one thread takes from one that several take, and determines what each
// thread commits (lock_users.h): after a lock, before a release, and while it waits for another thread's
// commit. `Caller` is the thread that has the mutex, with its operations. Instances are the program's threads
// in lock_users.cpp and the threads of a model in tests/repair/isolate/lock_protocol_test.cpp, which tries
// every order of their steps.

#include <algorithm>
#include <cstdint>

#include "repair/isolate/pages/scan.h"

namespace hpcrun {

// The time for which a thread has private pages, by a unique number.
using LockUser = uint64_t;
constexpr LockUser kNobody = 0;  // a thread without pages, or outside of sessions
constexpr LockUser kSeveral = 1;

// For kSeveral.
struct LockHistory {
  LockUser last = kNobody;
  uint32_t in_a_row = 0;  // how often the last user took the mutex
  uint32_t asked = 0;     // how often a user had to commit for another
};

struct LockLimits {
  uint32_t often = 1'000;  // in a row: enough that a requested commit would not have mattered
  uint32_t most_doubled = 10;
  uint32_t ask_again = 64;  // checks: the kernel may have had no room for a signal, and a merge defers it
};

// Waits until what `user` wrote before it released the mutex, which the caller now has, is in common memory.
// Returns false if the user has had no private pages since.
template <class Caller>
bool await_commit(Caller& caller, LockUser user, const LockLimits& limits) noexcept {
  if (caller.has_left(user)) return false;
  // If two threads wait for each other, both have committed.
  caller.commit(Stores::All);
  const uint64_t before = caller.own_commits_of(user);
  for (uint32_t looks = 0;
       caller.owes(user) && caller.own_commits_of(user) == before && !caller.has_left(user); ++looks) {
    if (looks % limits.ask_again == 0) caller.ask_to_commit(user);
    caller.wait_a_moment();
  }
  return true;
}

// Returns the user of the mutex after `self`, the caller, has taken it. One of several users becomes the only
// user again if it takes the mutex often in a row. The number doubles each time that this was wrong.
template <class Caller>
LockUser user_after(Caller& caller, LockHistory& history, LockUser user, LockUser self,
                    const LockLimits& limits) noexcept {
  if (user != kSeveral) {
    const bool had_user = user != kNobody && await_commit(caller, user, limits);
    if (!had_user) return self;
    ++history.asked;
    history.in_a_row = 0;
  }
  history.in_a_row = history.last == self ? history.in_a_row + 1 : 0;
  history.last = self;
  const bool is_alone =
      self != kNobody && history.in_a_row >= limits.often << std::min(history.asked, limits.most_doubled);
  return is_alone ? self : kSeveral;
}

// True if the user commits nothing when it takes the mutex, and only owes a commit when it releases it.
inline bool is_only_user(LockUser user, LockUser self) noexcept {
  return user != kNobody && user == self;
}

// Called when the caller has taken the mutex. `known` is what is known of it (load(), store() and history()),
// or nullptr.
template <class Caller, class Known>
void take_lock(Caller& caller, Known* known, LockUser self, const LockLimits& limits = {}) noexcept {
  if (known) {
    const LockUser user = known->load();
    if (is_only_user(user, self)) return;
    known->store(user_after(caller, known->history(), user, self, limits));
  }
  caller.commit(Stores::Others);
}

// Called while the caller still has the mutex.
template <class Caller, class Known>
void before_release(Caller& caller, const Known* known, LockUser self) noexcept {
  if (known && is_only_user(known->load(), self))
    caller.owe();
  else
    caller.commit(Stores::Own);
}

}  // namespace hpcrun
