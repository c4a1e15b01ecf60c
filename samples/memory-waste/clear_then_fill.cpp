// Dead stores: each message is decoded into rows that are cleared first, although decoding writes all of
// them. With FIXED they are not cleared.

#include <cstring>
#include <vector>

#include "rounds.h"

struct Row {
  uint32_t words[120];
};

[[gnu::noinline]] static void decode(std::vector<Row>& rows, uint32_t start, uint32_t step) {
#ifndef FIXED
  std::memset(rows.data(), 0, rows.size() * sizeof rows[0]);
#endif
  for (Row& row : rows) {
    for (uint32_t& word : row.words) word = start += step;
  }
}

[[gnu::noinline]] static uint32_t checksum(const std::vector<Row>& rows) {
  uint32_t sum = 0;
  for (const Row& row : rows) {
    for (const uint32_t word : row.words) sum += word;
  }
  return sum;
}

int main(int argc, char** argv) {
  std::vector<Row> rows(64);
  uint64_t message = 1, sum = 0;
  for (uint64_t left = rounds(argc, argv, 800'000); left; --left) {
    message = next_random(message);
    decode(rows, static_cast<uint32_t>(message >> 32), static_cast<uint32_t>(message >> 48) | 1);
    sum += checksum(rows);
  }
  print(sum);
}
