#pragma once
// Shared by the cases of converted threads (converted_thread_cases.cpp, meeting_cases.cpp, futex_cases.cpp,
// clock_cases.cpp): selecting a case, and threads that convert and return, wait, and count under a lock.

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string>

#include "tests/repair/isolate/isolated.h"
#include "tests/repair/isolate/team.h"

struct Case {
  const char* name;
  void (*run)();
};

// Returns the status of a program that runs the case in its arguments, or lists all.
inline int run_case(std::span<const Case> cases, int count, char** arguments) {
  for (const Case& each : cases) {
    if (count != 2 || strcmp(each.name, arguments[1])) continue;
    each.run();
    return 0;
  }
  for (const Case& each : cases) puts(each.name);
  return count == 1 ? 0 : 2;
}

inline void become_converted() {
  REQUIRE_THAT(isolated_convert());
  REQUIRE_THAT(isolated_is_converted());
}

inline uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

inline void pause_ms(int ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000L};
  REQUIRE_THAT(nanosleep(&time, nullptr) == 0);
}

// A time limit that expires.
constexpr int kLimitMs = 30;

inline timespec in_ms(clockid_t clock, int ms) {
  timespec time;
  clock_gettime(clock, &time);
  time.tv_nsec += ms * 1'000'000L;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

// The first two members of a team are converted threads, the last one is at home.
constexpr int kTeam = 3;
inline void take_place(int i) {
  if (i < kTeam - 1) become_converted();
}

// Four threads add under the lock, three of which convert and return all the time. `lock` runs its argument
// under the lock.
template <typename Lock>
void count_under(Lock lock) {
  static uint64_t counted;
  counted = 0;
  constexpr int kTurns = 1500;
  Team team(4, [&](int i) {
    for (int turn = 0; turn < kTurns; ++turn) {
      if (i < 3 && turn % 100 == 20 * i) REQUIRE_THAT(isolated_convert());
      if (i < 2 && turn % 100 == 60) isolated_give_back();
      lock([&] { counted = counted + 1; });
    }
  });
  team.join();
  REQUIRE_THAT(counted == 4 * kTurns);
}

// True if the thread waits in a system call with one of these numbers, converted or at home.
inline bool waits_in(int tid, std::initializer_list<long> calls) {
  const int converted = isolated_converted_thread_of(tid);
  const std::string path = converted ? "/proc/" + std::to_string(converted) + "/syscall"
                                     : "/proc/self/task/" + std::to_string(tid) + "/syscall";
  const int file = open(path.c_str(), O_RDONLY);
  char text[16] = {};
  const bool is_read = file >= 0 && read(file, text, sizeof text - 1) > 0;
  if (file >= 0) close(file);
  return is_read && text[0] != 'r' && std::ranges::count(calls, strtol(text, nullptr, 10));
}
