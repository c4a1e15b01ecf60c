// Futexes by system calls that the program makes itself. `futex_cases CASE` exits with status 0 if everything
// was as among threads. meetings.py runs them.

#include <string.h>

#include <atomic>

#include "tests/repair/isolate/converted_thread_turns.h"
#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/raw_futex.h"
#include "tests/repair/isolate/team.h"

namespace {

std::atomic<int> tids[8];

void await_sleepers(int count) {
  for (int i = 0; i < count; ++i)
    while (!tids[i] || !waits_in(tids[i], {SYS_futex, SYS_futex_waitv, kFutexWait})) sched_yield();
  pause_ms(5);
  for (int i = 0; i < count; ++i) tids[i] = 0;
}

// Waits for a futex while it has its value. Returns the reason for the wake-up, which must not be one of our
// samples.
long sleep_at(int i, long (*wait)(int)) {
  take_place(i);
  tids[i] = thread_id();
  return wait(i);
}

void futex_bits() {
  static std::atomic<uint32_t> word;
  isolated_start();
  for (const bool is_waker_converted : {false, true}) {
    if (is_waker_converted) become_converted();
    std::atomic<uint32_t> woken{0};
    Team team(kTeam, [&](int i) {
      const long result = sleep_at(i, [](int self) {
        const timespec until = in_ms(CLOCK_MONOTONIC, 60'000);
        return futex(&word, FUTEX_WAIT_BITSET, 0, self == 1 ? &until : nullptr, nullptr, 1u << self);
      });
      REQUIRE_THAT(result == 0);
      woken |= 1u << i;
    });
    await_sleepers(kTeam);
    REQUIRE_THAT(futex(&word, FUTEX_WAKE_BITSET, 100, nullptr, nullptr, 0b1000) == 0);
    REQUIRE_THAT(futex(&word, FUTEX_WAKE_BITSET, 100, nullptr, nullptr, 0b101) == 2);
    while (woken != 0b101) sched_yield();
    pause_ms(10);
    REQUIRE_THAT(woken == 0b101);
    REQUIRE_THAT(futex(&word, FUTEX_WAKE, 100) == 1);
    team.join();
  }
  // A value that already differs, and a time limit that expires.
  Team team(kTeam, [&](int i) {
    take_place(i);
    REQUIRE_THAT(futex(&word, FUTEX_WAIT_BITSET, 1, nullptr, nullptr, 1) == -EAGAIN);
    const timespec until = in_ms(CLOCK_MONOTONIC, kLimitMs), time{0, kLimitMs * 1'000'000};
    REQUIRE_THAT(futex(&word, FUTEX_WAIT_BITSET, 0, &until, nullptr, 1) == -ETIMEDOUT);
    const timespec until_real = in_ms(CLOCK_REALTIME, kLimitMs);
    REQUIRE_THAT(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &until_real, nullptr, 1) ==
                 -ETIMEDOUT);
    REQUIRE_THAT(futex(&word, FUTEX_WAIT, 0, &time) == -ETIMEDOUT);
  });
}

void futex_requeue() {
  static std::atomic<uint32_t> words[2];
  isolated_start();
  for (const bool compares : {true, false}) {
    if (compares) become_converted();
    std::atomic<int> woken{0};
    Team team(kTeam, [&](int i) {
      REQUIRE_THAT(sleep_at(i, [](int) { return futex(&words[0], FUTEX_WAIT, 0); }) == 0);
      ++woken;
    });
    await_sleepers(kTeam);
    REQUIRE_THAT(futex(&words[0], FUTEX_CMP_REQUEUE, 1, count_as_time(1), &words[1], 1) == -EAGAIN);
    // One is woken, one waits at the other word from now on, and one stays. The first one's end must not
    // interrupt the others: a requeued thread waits at the first word again after a signal, as with the
    // kernel.
    const long moved = compares ? futex(&words[0], FUTEX_CMP_REQUEUE, 1, count_as_time(1), &words[1], 0)
                                : futex(&words[0], FUTEX_REQUEUE, 1, count_as_time(1), &words[1]);
    REQUIRE_THAT(moved == 2);
    while (woken != 1) sched_yield();
    pause_ms(5);
    REQUIRE_THAT(futex(&words[0], FUTEX_WAKE, 100) == 1);
    while (woken != 2) sched_yield();
    pause_ms(5);
    REQUIRE_THAT(futex(&words[1], FUTEX_WAKE, 100) == 1);
    team.join();
  }
}

void futex_wake_op() {
  static std::atomic<uint32_t> words[2];
  isolated_start();
  for (const bool is_waker_converted : {false, true}) {
    if (is_waker_converted) become_converted();
    words[1] = 7;
    std::atomic<int> woken[2] = {};
    Team team(4, [&](int i) {
      REQUIRE_THAT(
          sleep_at(i, [](int self) { return futex(&words[self / 2], FUTEX_WAIT, self / 2 ? 7 : 0); }) == 0);
      ++woken[i / 2];
    });
    await_sleepers(4);
    // Adds 5 to the second word, and would wake waiters of both if it was 8, which it was not.
    REQUIRE_THAT(futex(&words[0], FUTEX_WAKE_OP, 1, count_as_time(100), &words[1],
                       wake_op(FUTEX_OP_ADD, 5, FUTEX_OP_CMP_EQ, 8)) == 1);
    REQUIRE_THAT(words[1] == 12);
    while (woken[0] != 1) sched_yield();
    REQUIRE_THAT(woken[1] == 0);
    REQUIRE_THAT(futex(&words[0], FUTEX_WAKE_OP, 1, count_as_time(100), &words[1],
                       wake_op(FUTEX_OP_SET, 3, FUTEX_OP_CMP_GE, 12)) == 3);
    team.join();
    REQUIRE_THAT(words[1] == 3 && woken[0] == 2 && woken[1] == 2);
  }
}

// The program's own mutex, without calls of the C library.
void own_mutex() {
  static std::atomic<uint32_t> word;  // 2: a thread waits
  isolated_start();
  count_under([&](auto work) {
    uint32_t was = 0;
    if (!word.compare_exchange_strong(was, 1))
      while (word.exchange(2) != 0) {
        const long result = futex(&word, FUTEX_WAIT, 2);
        REQUIRE_THAT(result == 0 || result == -EAGAIN);
      }
    work();
    if (word.exchange(0) == 2) REQUIRE_THAT(futex(&word, FUTEX_WAKE, 1) >= 0);
  });
}

void futex_waitv() {
  static std::atomic<uint32_t> words[kTeam];
  isolated_start();
  if (!has_call(SYS_futex_waitv)) return;
  const auto wait = [](int) {
    FutexWaiter waiters[kTeam];
    for (int i = 0; i < kTeam; ++i) waiters[i] = {0, &words[i], kPrivateWord, 0};
    const timespec until = in_ms(CLOCK_MONOTONIC, 60'000);
    return call_kernel(SYS_futex_waitv, waiters, kTeam, 0, &until, CLOCK_MONOTONIC);
  };
  for (const bool is_waker_converted : {false, true}) {
    if (is_waker_converted) become_converted();
    for (int word = 0; word < kTeam; ++word) {
      Team team(kTeam, [&](int i) { REQUIRE_THAT(sleep_at(i, wait) == word); });
      await_sleepers(kTeam);
      REQUIRE_THAT(futex(&words[word], FUTEX_WAKE, 100) == kTeam);
      team.join();
    }
  }
  Team team(kTeam, [&](int i) {
    take_place(i);
    const timespec until = in_ms(CLOCK_MONOTONIC, kLimitMs);
    FutexWaiter waiter{0, &words[0], kPrivateWord, 0};
    REQUIRE_THAT(call_kernel(SYS_futex_waitv, &waiter, 1, 0, &until, CLOCK_MONOTONIC) == -ETIMEDOUT);
    waiter.value = 1;
    REQUIRE_THAT(call_kernel(SYS_futex_waitv, &waiter, 1, 0, &until, CLOCK_MONOTONIC) == -EAGAIN);
    REQUIRE_THAT(waiter.flags == kPrivateWord);  // as the program wrote it
  });
}

// Linux 6.7
void futex2() {
  static std::atomic<uint32_t> words[2];
  isolated_start();
  if (!has_call(kFutexWake)) return;
  for (const bool is_waker_converted : {false, true}) {
    if (is_waker_converted) become_converted();
    std::atomic<int> woken{0};
    Team team(kTeam, [&](int i) {
      const long result = sleep_at(i, [](int self) {
        return call_kernel(kFutexWait, &words[0], 0, 1u << self, kPrivateWord, nullptr, CLOCK_MONOTONIC);
      });
      REQUIRE_THAT(result == 0);
      ++woken;
    });
    await_sleepers(kTeam);
    REQUIRE_THAT(call_kernel(kFutexWake, &words[0], 0b1000, 100, kPrivateWord) == 0);
    REQUIRE_THAT(call_kernel(kFutexWake, &words[0], 0b010, 100, kPrivateWord) == 1);
    while (woken != 1) sched_yield();
    FutexWaiter both[2] = {{0, &words[0], kPrivateWord, 0}, {0, &words[1], kPrivateWord, 0}};
    REQUIRE_THAT(call_kernel(kFutexRequeue, both, 0, 1, 1) == 2);
    while (woken != 2) sched_yield();
    pause_ms(5);
    REQUIRE_THAT(call_kernel(kFutexWake, &words[0], ~0u, 100, kPrivateWord) == 0);
    REQUIRE_THAT(call_kernel(kFutexWake, &words[1], ~0u, 100, kPrivateWord) == 1);
    team.join();
  }
  Team team(kTeam, [&](int i) {
    take_place(i);
    const timespec until = in_ms(CLOCK_MONOTONIC, kLimitMs);
    REQUIRE_THAT(call_kernel(kFutexWait, &words[0], 0, 1, kPrivateWord, &until, CLOCK_MONOTONIC) ==
                 -ETIMEDOUT);
    REQUIRE_THAT(call_kernel(kFutexWait, &words[0], 1, 1, kPrivateWord, &until, CLOCK_MONOTONIC) == -EAGAIN);
  });
}

constexpr Case kCases[] = {
    {"futex_bits", futex_bits}, {"futex_requeue", futex_requeue}, {"futex_wake_op", futex_wake_op},
    {"own_mutex", own_mutex},   {"futex_waitv", futex_waitv},     {"futex2", futex2},
};

}  // namespace

int main(int count, char** arguments) {
  return run_case(kCases, count, arguments);
}
