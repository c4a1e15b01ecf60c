#include "library.h"

namespace ground_truth {

GROUND_TRUTH_FUNCTION uint64_t gt_library_leaf(Shadow& shadow, uint64_t value) {
  enter(shadow);
  for (int i = 0; i < 40; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  return value;
}

GROUND_TRUTH_FUNCTION uint64_t gt_library_middle(Shadow& shadow, uint64_t value, uint32_t rounds) {
  enter(shadow);
  uint64_t block[16];
  for (uint64_t& word : block) word = value++;
  for (uint32_t i = 0; i < rounds; ++i) {
    const Call call(shadow, k_library_leaf);
    block[i % 16] ^= gt_library_leaf(shadow, block[(i + 5) % 16]);
  }
  return block[value % 16];
}

GROUND_TRUTH_FUNCTION uint64_t gt_library_entry(Shadow& shadow, uint64_t value, uint32_t rounds) {
  enter(shadow);
  const Call call(shadow, k_library_middle);
  return gt_library_middle(shadow, value, rounds) + 1;
}

GROUND_TRUTH_FUNCTION uint64_t gt_library_tail(Shadow& shadow, uint64_t value) {
  enter(shadow);
  value ^= value >> 7;
  hand_on(shadow, k_library_tail, k_library_leaf);
  return gt_library_leaf(shadow, value);
}

GROUND_TRUTH_FUNCTION uint64_t gt_foreach(Shadow& shadow, uint64_t value, Visitor visitor) {
  enter(shadow);
  for (int i = 0; i < 8; ++i) value = visitor(shadow, value) ^ static_cast<uint64_t>(i);
  return value;
}

}  // namespace ground_truth
