// False sharing: two threads use different fields of one object on the same cache line. One thread counts
// packets received and damaged, the other packets sent. fields_fixed puts the sender's field on a line of its
// own.

#include "team.h"

struct Connection {
  std::atomic<uint64_t> received;
  std::atomic<uint16_t> damaged;
#ifdef FIXED
  alignas(64)
#endif
      std::atomic<uint32_t> sent;
};

alignas(64) Connection connection;

[[gnu::noinline]] void receive(uint64_t steps) {
  while (steps--) {
    connection.received.fetch_add(1, std::memory_order_relaxed);
    connection.damaged.fetch_add(steps & 1, std::memory_order_relaxed);
  }
}

[[gnu::noinline]] void send(uint64_t steps) {
  while (steps--) connection.sent.fetch_add(1, std::memory_order_relaxed);
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 20);
  team::run([=] { receive(steps); }, [=] { send(steps * 2); });
  std::printf("%llu %u\n", static_cast<unsigned long long>(connection.received.load()),
              connection.sent.load());
}
