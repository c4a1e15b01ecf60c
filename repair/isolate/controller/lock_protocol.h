#pragma once
// How a mutex that one thread alone takes is told from one that several take, and what each of them commits
// (lock_users.h): a lock, what comes before a release, and the waiting for another thread's commit. `Caller`
// is the thread that has the mutex and what it can do: the program's threads in lock_users.cpp, and those of
// a model in tests/repair/isolate/lock_protocol_test.cpp, which tries every order of their steps.

#include <algorithm>
#include <cstdint>

#include "repair/isolate/pages/scan.h"

namespace hpcrun {

// A thread with private pages, for as long as it has them, by a number that no other such time has.
using LockUser = uint64_t;
constexpr LockUser kNobody = 0;  // a thread without pages, or outside of sessions
constexpr LockUser kSeveral = 1;

// Of kSeveral.
struct LockHistory {
  LockUser last = kNobody;
  uint32_t in_a_row = 0;  // times that the last one took it
  uint32_t asked = 0;     // times that one had to commit for another
};

struct LockLimits {
  uint32_t often = 1'000;  // in a row: then being asked for a commit would not have mattered
  uint32_t most_doubled = 10;
  uint32_t ask_again = 64;  // looks: the kernel may have had no room for a signal, and a merge puts it off
};

// Until what the user wrote before it released the mutex, which the caller has now, is in common memory.
// False: it has had no private pages since.
template <class Caller>
bool await_commit(Caller& caller, LockUser user, const LockLimits& limits) noexcept {
  if (caller.has_left(user)) return false;
  // Two threads that wait for each other have committed both.
  caller.commit(Stores::All);
  const uint64_t before = caller.own_commits_of(user);
  for (uint32_t looks = 0;
       caller.owes(user) && caller.own_commits_of(user) == before && !caller.has_left(user); ++looks) {
    if (looks % limits.ask_again == 0) caller.ask_to_commit(user);
    caller.wait_a_moment();
  }
  return true;
}

// Whose mutex it is once `self`, the caller, has taken it. One of several becomes its only user again who
// takes it often in a row, and more often each time that this was wrong.
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

// Nothing is to be committed as such a user takes the mutex, and as it releases it no more than owed.
inline bool is_only_user(LockUser user, LockUser self) noexcept {
  return user != kNobody && user == self;
}

// The caller has the mutex. `place` is what is known of it: load(), store() and history(); nullptr: nothing.
template <class Caller, class Place>
void take_lock(Caller& caller, Place* place, LockUser self, const LockLimits& limits = {}) noexcept {
  if (place) {
    const LockUser user = place->load();
    if (is_only_user(user, self)) return;
    place->store(user_after(caller, place->history(), user, self, limits));
  }
  caller.commit(Stores::Others);
}

// It has it still.
template <class Caller, class Place>
void before_release(Caller& caller, const Place* place, LockUser self) noexcept {
  if (place && is_only_user(place->load(), self))
    caller.owe();
  else
    caller.commit(Stores::Own);
}

}  // namespace hpcrun
