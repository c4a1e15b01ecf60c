// Prints as JSON how many ns an uncontended pair of lock and unlock takes: with the C library alone, through
// the library that moves locks (while there are contended lines), and with a moved mutex. The three
// alternate, with one thread, for which the C library takes mutexes by plain stores, and with two.

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/repair/locks/repairer.h"

namespace {

using namespace prof;

double nanoseconds(long pairs, const NativeMutex& calls, pthread_mutex_t& mutex) {
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 0; i < pairs; ++i) {
    calls.lock(&mutex);
    calls.unlock(&mutex);
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
  return took.count() / static_cast<double>(pairs);
}

alignas(64) pthread_mutex_t native = PTHREAD_MUTEX_INITIALIZER;
alignas(64) pthread_mutex_t here = PTHREAD_MUTEX_INITIALIZER;
alignas(64) pthread_mutex_t moved = PTHREAD_MUTEX_INITIALIZER;

void print(const char* threads, long pairs, const char* behind) {
  double of_native = 1e9, of_here = 1e9, of_moved = 1e9;
  for (int batch = 0; batch < 20; ++batch) {
    of_native = std::min(of_native, nanoseconds(pairs, native_mutex(), native));
    of_here = std::min(of_here, nanoseconds(pairs, our_mutex(), here));
    of_moved = std::min(of_moved, nanoseconds(pairs, our_mutex(), moved));
  }
  std::printf("\"%s\": {\"bare\": %.2f, \"where it was\": %.2f, \"moved\": %.2f}%s", threads, of_native,
              of_here, of_moved, behind);
}

}  // namespace

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? std::atol(argv[1]) : 200'000;
  Repairer repairer;
  repairer.add(moved);
  std::printf("{");
  print("one thread", pairs, ", ");
  pthread_barrier_t over;
  pthread_barrier_init(&over, nullptr, 2);
  std::thread other([&over] { pthread_barrier_wait(&over); });
  print("two threads", pairs, "}\n");
  pthread_barrier_wait(&over);
  other.join();
  return is_moved(&here) || !is_moved(&moved);
}
