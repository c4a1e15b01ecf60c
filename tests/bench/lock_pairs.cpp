// Prints as JSON how many ns an uncontended pair of lock and unlock takes, by kind of lock: with another
// thread in the process, and once without. Without one, the C library takes mutexes by plain stores.

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

template <typename Pair>
double nanoseconds(long pairs, Pair pair) {
  double best = 1e9;
  for (int batch = 0; batch < 20; ++batch) {
    const auto begin = std::chrono::steady_clock::now();
    for (long i = 0; i < pairs; ++i) pair();
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count() / static_cast<double>(pairs));
  }
  return best;
}

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
pthread_spinlock_t spin;

}  // namespace

int main(int argc, char** argv) {
  const long pairs = argc > 1 ? std::atol(argv[1]) : 200'000;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  const auto mutex_pair = [] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  };
  const double of_mutex_alone = nanoseconds(pairs, mutex_pair);
  pthread_barrier_t over;
  pthread_barrier_init(&over, nullptr, 2);
  std::thread other([&over] { pthread_barrier_wait(&over); });
  const double of_mutex = nanoseconds(pairs, mutex_pair);
  const double of_read = nanoseconds(pairs, [] {
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
  });
  const double of_write = nanoseconds(pairs, [] {
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
  });
  const double of_spin = nanoseconds(pairs, [] {
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
  });
  pthread_barrier_wait(&over);
  other.join();
  std::printf(
      "{\"mutex\": %.2f, \"mutex, one thread\": %.2f, \"rwlock, read\": %.2f, \"rwlock, write\": %.2f, "
      "\"spin lock\": %.2f}\n",
      of_mutex, of_mutex_alone, of_read, of_write, of_spin);
}
