// Data for the threads of a program that loads this library while it runs (isolated_life.cpp).

#include <cstdint>

namespace {
volatile uint64_t sum;
}

extern "C" {
__attribute__((visibility("default"))) void add_to_loaded() {
  sum = sum + 1;
}
__attribute__((visibility("default"))) uint64_t loaded_sum() {
  return sum;
}
}
