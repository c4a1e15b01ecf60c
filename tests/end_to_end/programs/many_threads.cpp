// many_threads THREADS SECONDS: all threads exist at once, and each uses SECONDS of CPU time.

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "spin.h"

int main(int, char** argv) {
  const unsigned count = static_cast<unsigned>(std::atoi(argv[1]));
  const double seconds = std::atof(argv[2]);
  pthread_barrier_t all_alive;
  pthread_barrier_init(&all_alive, nullptr, count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      pthread_barrier_wait(&all_alive);
      spin(seconds);
      pthread_barrier_wait(&all_alive);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("%u threads done\n", count);
}
