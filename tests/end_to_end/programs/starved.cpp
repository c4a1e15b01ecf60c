// Twelve threads that synchronize in a barrier repeatedly. One of them computes before it arrives, first with
// a processor of its own, and then with the lowest priority on one that another process keeps busy
// (stalls.py). It is ready all the time, but gets almost no processor time. Before that it blocks for a
// moment: with "sleep" in a sleep, with "lock" in a call that samples interrupt. Prints for how long it had
// no processor.

#include <pthread.h>
#include <sched.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <thread>
#include <vector>

#include "spin.h"

static constexpr unsigned kThreads = 12, kRounds = 3;
static constexpr double kUsualWork = 0.3;     // s of CPU time: enough samples to know what is usual
static constexpr double kStarvedWork = 2e-3;  // less than the kernel gives at a time
static constexpr timespec kMoment{0, 50'000};
static pthread_barrier_t barrier;

static void starve_on(int processor) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  sched_param least{};
  sched_setscheduler(0, SCHED_IDLE, &least);
  sched_setaffinity(0, sizeof one, &one);
}

static void block(std::string_view how) {
  if (how == "sleep") nanosleep(&kMoment, nullptr);
  if (how == "lock") {
    pthread_mutex_t taken = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&taken);
    timespec until{};
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += kMoment.tv_nsec;
    until.tv_sec += until.tv_nsec / 1'000'000'000;
    until.tv_nsec %= 1'000'000'000;
    pthread_mutex_timedlock(&taken, &until);
  }
}

static double starved_s = 0;

static void meet_starved(int processor, std::string_view how) {
  pthread_barrier_wait(&barrier);
  spin(kUsualWork);
  pthread_barrier_wait(&barrier);
  starve_on(processor);
  for (unsigned round = 0; round < kRounds; ++round) {
    const double begin = clock_seconds(CLOCK_MONOTONIC);
    const double cpu = thread_cpu_seconds();
    block(how);
    spin(kStarvedWork);
    starved_s += clock_seconds(CLOCK_MONOTONIC) - begin - (thread_cpu_seconds() - cpu);
    pthread_barrier_wait(&barrier);
  }
}

static void meet() {
  for (unsigned round = 0; round < kRounds + 2; ++round) pthread_barrier_wait(&barrier);
}

int main(int, char** arguments) {
  pthread_barrier_init(&barrier, nullptr, kThreads);
  std::vector<std::thread> team;
  team.emplace_back(meet_starved, std::atoi(arguments[1]), arguments[2]);
  for (unsigned i = 2; i < kThreads; ++i) team.emplace_back(meet);
  spin(0.1);  // so that all others are observed to wait
  meet();
  for (std::thread& one : team) one.join();
  fprintf(stderr, "starved_s %f\n", starved_s);
}
