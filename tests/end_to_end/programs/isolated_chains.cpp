// Threads that each create the next one and end, while the main thread forks: for a number of seconds, with a
// number of additions in the page of the chain and on the thread's stack. Prints whether all additions are
// there at the end.

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

using Clock = std::chrono::steady_clock;

struct alignas(4096) Chain {
  volatile uint64_t additions;
  volatile uint64_t links;
};

constexpr int kChains = 6;
Chain chains[kChains];
uint64_t additions_each;
Clock::time_point end;
std::atomic<int> ended{0};

void add_link(Chain& chain);

void* run_link(void* raw) {
  auto& chain = *static_cast<Chain*>(raw);
  volatile uint64_t own[64] = {};
  for (uint64_t i = 0; i < additions_each; ++i) {
    chain.additions = chain.additions + 1;
    own[i % 64] = own[i % 64] + 1;
  }
  uint64_t sum = 0;
  for (const volatile uint64_t& one : own) sum += one;
  if (sum != additions_each) abort();
  chain.links = chain.links + 1;
  if (Clock::now() < end)
    add_link(chain);
  else
    ++ended;
  return nullptr;
}

void add_link(Chain& chain) {
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  if (pthread_create(&thread, &detached, run_link, &chain) != 0) abort();
  pthread_attr_destroy(&detached);
}

bool forks_well() {
  const pid_t child = fork();
  if (child == 0) _exit(7);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  end = Clock::now() + std::chrono::seconds(atoi(argv[1]));
  additions_each = strtoull(argv[2], nullptr, 10);
  for (Chain& chain : chains) add_link(chain);
  bool is_right = true;
  while (ended < kChains) {
    usleep(1'200'000);
    is_right &= forks_well();
  }
  for (const Chain& chain : chains) is_right &= chain.additions == additions_each * chain.links;
  puts(is_right ? "right" : "wrong");
}
