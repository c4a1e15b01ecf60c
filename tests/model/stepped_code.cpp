// Code as users write it, compiled at every optimisation level. The tests follow its instructions one by one.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace {

struct Particle {
  double position[3];
  float mass;
  int32_t kind;
  Particle* next;
};

struct Statistics {
  std::atomic<uint64_t> hits;
  uint32_t misses;
  uint16_t errors;
  uint8_t state;
};

constexpr int kCount = 24;
double matrix[kCount][kCount];
double other[kCount][kCount];
double product[kCount][kCount];
int32_t histogram[64];
uint8_t text[257];
Particle particles[kCount];
Statistics statistics[4];
uint64_t table[32];
volatile uint64_t sink;

[[gnu::noinline]] void multiply(int count) {
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j) {
      double sum = 0;
      for (int k = 0; k < count; ++k) sum += matrix[i][k] * other[k][j];
      product[i][j] = sum;
    }
}

[[gnu::noinline]] void count_letters(const uint8_t* letters, size_t count) {
  for (size_t i = 0; i < count; ++i) ++histogram[letters[i] & 63];
}

[[gnu::noinline]] double walk(const Particle* first) {
  double mass = 0;
  for (const Particle* particle = first; particle; particle = particle->next)
    if (particle->kind & 1) mass += static_cast<double>(particle->mass);
  return mass;
}

[[gnu::noinline]] void move(Particle* all, int count, double by) {
  for (int i = 0; i < count; ++i)
    for (int axis = 0; axis < 3; ++axis) all[i].position[axis] += by;
}

[[gnu::noinline]] void note(Statistics& of, unsigned rounds) {
  while (rounds--) {
    of.hits.fetch_add(1, std::memory_order_relaxed);
    of.misses += rounds & 3;
    ++of.errors;
    of.state ^= 1;
  }
}

[[gnu::noinline]] uint64_t mix(uint64_t* words, uint32_t mask, int32_t step) {
  uint64_t sum = 0;
  int32_t at = 0;
  for (int i = 0; i < 100; ++i) {
    sum += words[static_cast<uint32_t>(at) & mask];
    words[(static_cast<uint32_t>(at) * 5 + 3) & mask] = sum;
    at -= step;
  }
  return sum;
}

[[gnu::noinline]] void swap_ends(std::atomic<uint64_t>* words, int count) {
  for (int low = 0, high = count - 1; low < high; ++low, --high)
    words[high].exchange(words[low].load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace

extern "C" void STEPPED() {
  for (size_t i = 0; i < sizeof text; ++i) text[i] = static_cast<uint8_t>(i * 7);
  for (int i = 0; i < kCount; ++i) {
    particles[i].kind = i;
    particles[i].mass = 1;
    particles[i].next = i + 1 < kCount ? &particles[i + 1] : nullptr;
  }
  multiply(6);
  count_letters(text, 200);
  sink = static_cast<uint64_t>(walk(particles));
  move(particles, kCount, 0.5);
  for (Statistics& of : statistics) note(of, 20);
  sink = mix(table, 31, 3);
  static std::atomic<uint64_t> words[16];
  swap_ends(words, 16);
}
