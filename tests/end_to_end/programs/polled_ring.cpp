// A queue from one thread to another in a lock-free ring buffer whose indices are adjacent. Each thread
// writes one index, caches the other's, and polls that by acquire loads, which on x86 are plain ones, when
// the ring is full or empty. Prints the sum of the transferred values. Argument: their number.

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

struct Ring {
  std::atomic<uint64_t> head{0};
  uint64_t tail_seen = 0;  // the producer's
  std::atomic<uint64_t> tail{0};
  uint64_t head_seen = 0;  // the consumer's
};

constexpr uint64_t kSlots = 1024;
static uint32_t slots[kSlots];

static void produce(Ring& ring, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t head = ring.head.load(std::memory_order_relaxed);
    while (head - ring.tail_seen >= kSlots) ring.tail_seen = ring.tail.load(std::memory_order_acquire);
    slots[head % kSlots] = static_cast<uint32_t>(head);
    ring.head.store(head + 1, std::memory_order_release);
  }
}

static uint64_t consume(Ring& ring, uint64_t count) {
  uint64_t sum = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t tail = ring.tail.load(std::memory_order_relaxed);
    while (ring.head_seen <= tail) ring.head_seen = ring.head.load(std::memory_order_acquire);
    sum += slots[tail % kSlots];
    ring.tail.store(tail + 1, std::memory_order_release);
  }
  return sum;
}

int main(int, char** argv) {
  const uint64_t count = strtoull(argv[1], nullptr, 10);
  auto* const ring = new Ring;
  uint64_t sum = 0;
  std::thread producer([&] { produce(*ring, count); });
  std::thread consumer([&] { sum = consume(*ring, count); });
  producer.join();
  consumer.join();
  printf("%llu\n", static_cast<unsigned long long>(sum));
  delete ring;
}
