#pragma once
// Shared by programs whose calls wait. They print how often each result occurred, and how often a call
// returned too early. A profiler must not change any of that.

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>

#include "spin.h"

constexpr int kTurns = 10;
constexpr long kTimeoutNs = 5'000'000;
constexpr size_t kLarge = 1 << 20;

inline timespec in_ns(long ns) {
  return {ns / 1'000'000'000, ns % 1'000'000'000};
}

inline timespec from_now(clockid_t clock, long ns) {
  timespec time{};
  clock_gettime(clock, &time);
  time.tv_nsec += ns;
  time.tv_sec += time.tv_nsec / 1'000'000'000;
  time.tv_nsec %= 1'000'000'000;
  return time;
}

inline const timespec kTimeout = in_ns(kTimeoutNs);

// Makes the calls in turns. A result of -1 is shown with its errno.
inline void show(const char* name, const std::function<long()>& call, long least_ns = 0, int turns = kTurns) {
  std::map<std::string, int> results;
  int early = 0;
  for (int i = 0; i < turns; ++i) {
    const double start = clock_seconds(CLOCK_MONOTONIC);
    const long result = call();
    const int error = errno;
    if ((clock_seconds(CLOCK_MONOTONIC) - start) * 1e9 < static_cast<double>(least_ns) - 1000) ++early;
    ++results[result == -1 ? strerrorname_np(error) : std::to_string(result)];
  }
  std::printf("%s:", name);
  for (const auto& [result, times] : results) std::printf(" %d x %s", times, result.c_str());
  std::printf(", early %d\n", early);
}

inline void timeout(const char* name, const std::function<long()>& call) {
  show(name, call, kTimeoutNs);
}

struct Pipe {
  int ends[2];
  Pipe() { (void)!pipe(ends); }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
};

struct Sockets {
  int ends[2];
  Sockets() {
    (void)socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    const timeval limit{0, kTimeoutNs / 1000};
    for (const int end : ends) setsockopt(end, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Sockets() {
    close(ends[0]);
    close(ends[1]);
  }
};

// Returns the state in /proc: S while the thread sleeps.
inline char state_of(int tid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
  FILE* file = std::fopen(path, "r");
  char state = '?';
  if (!file) return state;
  (void)!std::fscanf(file, "%*d (%*[^)]) %c", &state);
  std::fclose(file);
  return state;
}
