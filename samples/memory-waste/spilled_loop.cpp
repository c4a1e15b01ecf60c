// Dead stores: all values of a record are kept for a report that is rarely made. They do not fit in
// registers, so that the compiler stores some on the stack for each record (as in mainGtU of bzip2). With
// FIXED the report computes the values back from the new ones.

#include "rounds.h"

struct Record {
  uint64_t a, b, c, d, e, f, g, h, i, j;
};

static Record records[256];

// The inverse modulo 2^64, by Newton's method.
constexpr uint64_t inverse(uint64_t odd) {
  uint64_t found = odd;
  for (int step = 0; step < 6; ++step) found *= 2 - odd * found;
  return found;
}

constexpr uint64_t previous_random(uint64_t state) {
  return (state - kIncrement) * inverse(kFactor);
}

#define FOR_EACH_VALUE(DO) DO(a) DO(b) DO(c) DO(d) DO(e) DO(f) DO(g) DO(h) DO(i) DO(j)
#define KEEP_OLD(value) const uint64_t old_##value = record.value;
#define COMPUTE_OLD(value) const uint64_t old_##value = previous_random(record.value);
#define ADVANCE(value) record.value = next_random(record.value);
#define SUM_UP(value) sum += record.value;
#define REPORT(value) reports = reports * 3 + old_##value;

[[gnu::noinline]] static uint64_t advance_records(uint64_t reports) {
  for (Record& record : records) {
#ifndef FIXED
    FOR_EACH_VALUE(KEEP_OLD)
#endif
    FOR_EACH_VALUE(ADVANCE)
    uint64_t sum = 0;
    FOR_EACH_VALUE(SUM_UP)
    if (sum >> 52) continue;
#ifdef FIXED
    FOR_EACH_VALUE(COMPUTE_OLD)
#endif
    FOR_EACH_VALUE(REPORT)
  }
  return reports;
}

int main(int argc, char** argv) {
  uint64_t seed = 1;
  for (Record& record : records) {
#define START(value) record.value = seed = next_random(seed);
    FOR_EACH_VALUE(START)
  }
  uint64_t reports = 0;
  for (uint64_t left = rounds(argc, argv, 1'300'000); left; --left) reports = advance_records(reports);
  print(reports);
}
