// Waits of OpenMP threads: openmp_waits [HOW]. Prints the expected results.
//   uneven    one thread of three works long before a barrier, and again before the end of the region
//   critical  one has a named critical section for a long time while others need it; the same for a lock
//   tasks     one thread creates tasks, and the others run them at the end of the region

#include <omp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

static omp_lock_t table_lock;
static long total = 0;
static uint64_t results[3 * 8];

[[gnu::noinline]] static uint64_t compute(uint64_t steps) {
  uint64_t x = steps;
  for (uint64_t i = 0; i < steps; ++i) x = x * 6364136223846793005u + 1442695040888963407u;
  return x;
}

static void sleep_ms(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));
}

static void uneven() {
#pragma omp parallel num_threads(3)
  {
    const int self = omp_get_thread_num();
    if (self == 0) results[0] += compute(150'000'000);
#pragma omp barrier
    if (self == 1) results[8] += compute(150'000'000);
  }
}

[[gnu::noinline]] static void keep() {
#pragma omp critical(table)
  {
    ++total;
    sleep_ms(100);
  }
}

[[gnu::noinline]] static void want() {
#pragma omp critical(table)
  ++total;
}

[[gnu::noinline]] static void keep_lock() {
  omp_set_lock(&table_lock);
  ++total;
  sleep_ms(100);
  omp_unset_lock(&table_lock);
}

[[gnu::noinline]] static void want_lock() {
  omp_set_lock(&table_lock);
  ++total;
  omp_unset_lock(&table_lock);
}

static void critical() {
  omp_init_lock(&table_lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) {
      keep();
      keep_lock();
    } else {
      sleep_ms(20);
      want();
      sleep_ms(20);
      want_lock();
    }
#pragma omp critical
    ++total;
  }
}

static void tasks() {
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 30; ++i) {
#pragma omp task
    {
      const uint64_t result = compute(20'000'000);
#pragma omp atomic
      total += result != 0;
    }
  }
}

int main(int argc, char** argv) {
  const char* const how = argc > 1 ? argv[1] : "uneven";
  if (!std::strcmp(how, "uneven")) uneven();
  if (!std::strcmp(how, "critical")) critical();
  if (!std::strcmp(how, "tasks")) tasks();
  long sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 100; ++i) sum += i;
  std::printf("%s: total %ld, sum %ld\n", how, total, sum);
  return 0;
}
