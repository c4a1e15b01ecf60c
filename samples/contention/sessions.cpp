// False sharing: a small key-value store in parts, each with a lock of its own on lines of its own. Every
// client session keeps statistics in small objects from adjacent allocations, which lie in one cache line.
// Threads that never wait for each other's locks slow each other down. sessions_fixed gives each object a
// line of its own.

#include <mutex>
#include <vector>

#include "team.h"

#ifdef FIXED
struct alignas(64) Statistics {
#else
struct Statistics {
#endif
  volatile uint64_t reads = 0;
  volatile uint64_t hits = 0;
};

constexpr uint64_t kSteps = 125'000;  // of one session

class Store {
 public:
  void set(uint64_t key, uint64_t value) { slot_of(key) = value; }

  [[gnu::noinline]] uint64_t get(uint64_t key, Statistics& own) {
    Part& part = parts_[key % kParts];
    part.lock.lock();
    const uint64_t value = slot_of(key);
    part.lock.unlock();
    own.reads = own.reads + 1;
    if (value) own.hits = own.hits + 1;
    return value;
  }

 private:
  static constexpr size_t kParts = 8, kSlots = 128;

  struct alignas(64) Part {
    std::mutex lock;
    alignas(64) uint64_t slots[kSlots] = {};
  };

  uint64_t& slot_of(uint64_t key) { return parts_[key % kParts].slots[key / kParts % kSlots]; }

  Part parts_[kParts];
};

Store store;
std::vector<Statistics*> sessions(3);  // open at the same time; two are busy

[[gnu::noinline]] Statistics* open_session() {
  return new Statistics();
}

// Among three consecutive ones, two share a line. Returns the first of the two.
size_t open_sessions() {
  for (Statistics*& session : sessions) session = open_session();
  const auto line_of = [](const Statistics* session) { return reinterpret_cast<uintptr_t>(session) / 64; };
  return line_of(sessions[0]) == line_of(sessions[1]) ? 0 : 1;
}

// Each client requests keys of one part.
[[gnu::noinline]] uint64_t serve(Statistics& own, uint64_t client) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < kSteps; ++i) sum += store.get(client + i * 8, own);
  return sum;
}

int main(int argc, char** argv) {
  const uint64_t rounds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 400;
  for (uint64_t key = 0; key < 512; ++key) store.set(key, key + 1);
  uint64_t hits = 0, sums[2] = {};
  size_t first = 0;
  team::rounds(
      rounds, [&] { first = open_sessions(); }, [&] { sums[0] += serve(*sessions[first], 0); },
      [&] { sums[1] += serve(*sessions[first + 1], 1); },
      [&] {
        for (Statistics* session : sessions) {
          hits += session->hits;
          delete session;
        }
      });
  std::printf("%llu %llu\n", static_cast<unsigned long long>(hits),
              static_cast<unsigned long long>(sums[0] + sums[1]));
}
