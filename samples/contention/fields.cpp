// Two threads use fields of their own of one object, which lie in one cache line: one counts what it receives
// and what of that is damaged, the other what it sends. fields_fixed gives the sender's field a line of its
// own.

#include "team.h"

struct Connection {
  volatile uint64_t received;
  volatile uint16_t damaged;
#ifdef FIXED
  alignas(64)
#endif
      volatile uint32_t sent;
};

alignas(64) Connection connection;

[[gnu::noinline]] void receive(uint64_t steps) {
  while (steps--) {
    connection.received = connection.received + 1;
    connection.damaged = static_cast<uint16_t>(connection.damaged + (steps & 1));
  }
}

[[gnu::noinline]] void send(uint64_t steps) {
  while (steps--) connection.sent = connection.sent + 1;
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 200);
  team::run([=] { receive(steps); }, [=] { send(steps); });
  std::printf("%llu %u\n", static_cast<unsigned long long>(connection.received), connection.sent);
}
