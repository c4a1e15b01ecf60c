#pragma once
// Shared by both versions: the sum over a record, and the program's own account of its CPU time.

#include <sys/resource.h>
#include <time.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

constexpr size_t kRecordBytes = 8 * 1024;
// Records per batch of reading and summing. It takes about 80 us, so reading the clock costs little.
constexpr size_t kBatch = 128;

[[gnu::noinline]] inline uint64_t sum_records(const uint8_t* bytes, size_t count) {
  uint64_t sum = 1;
  for (size_t i = 0; i < count; i += 32) sum = sum * 31 + bytes[i];
  return sum;
}

inline uint64_t cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

// Returns the first argument, or a number that takes about 3 s in the slow version.
inline size_t batch_count(int argc, char** argv) {
  return argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 40'000;
}

// Prints two independent accounts: the thread's CPU clock around the reads, and the kernel's split of user
// and system time.
inline void print_shares(uint64_t sum, uint64_t read_ns, uint64_t total_ns) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  const double user = seconds(usage.ru_utime);
  const double system = seconds(usage.ru_stime);
  std::printf("sum %016llx\n", static_cast<unsigned long long>(sum));
  std::fprintf(stderr, "read_share %.2f\nsystem_share %.2f\ncpu_s %.3f\n",
               100.0 * static_cast<double>(read_ns) / static_cast<double>(total_ns),
               100.0 * system / (user + system), user + system);
}
