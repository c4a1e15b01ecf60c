// No waste: messages pass through a queue, and a table of states advances. Each store is of a new value and
// is loaded before the next store there.

#include "rounds.h"

static uint64_t queue[256];
static uint64_t states[1024];

[[gnu::noinline]] static uint64_t send(uint64_t seed) {
  for (uint64_t& message : queue) message = seed = next_random(seed);
  return seed;
}

[[gnu::noinline]] static uint64_t receive() {
  uint64_t sum = 0;
  for (const uint64_t message : queue) sum = sum * 3 + message;
  return sum;
}

[[gnu::noinline]] static void advance() {
  for (uint64_t& state : states) state = next_random(state);
}

int main(int argc, char** argv) {
  uint64_t seed = 1, sum = 0;
  for (uint64_t left = rounds(argc, argv, 1'400'000); left; --left) {
    seed = send(seed);
    sum += receive();
    advance();
  }
  for (const uint64_t state : states) sum += state;
  print(sum);
}
