// Adjacent words of all workers, of each width, in variables and in a small allocation. No store is lost, and
// none is undone.

#include <cstdlib>
#include <cstring>
#include <memory>

#include "soak.h"

namespace soak {

namespace {

// Every kWorkers-th word belongs to one worker.
template <class Word>
struct alignas(kPage) Page {
  static constexpr size_t kWords = kPage / sizeof(Word);
  volatile Word at[kWords];
};
Page<uint8_t> bytes;
Page<uint16_t> halves;
Page<uint32_t> singles;
Page<uint64_t> doubles[2];

constexpr size_t kSmallWords = 120;
volatile uint64_t* small = nullptr;

// The expected values of one worker's words, and what it last read of the others'.
struct Known {
  uint8_t bytes[kPage];
  uint16_t halves[kPage / 2];
  uint32_t singles[kPage / 4];
  uint64_t doubles[2][kPage / 8];
  uint64_t small[kSmallWords];
};
std::unique_ptr<Known> known[kWorkers];

template <class Word, class Stored>
void add(Worker& worker, Stored* words, Word* expected, size_t count) {
  const size_t own = worker.below(count / kWorkers) * kWorkers + static_cast<size_t>(worker.number);
  SOAK_REQUIRE(words[own] == expected[own]);
  words[own] = ++expected[own];
}

// Others' values never go backwards.
void look(Worker& worker, const volatile uint64_t* words, uint64_t* seen, size_t count) {
  const size_t any = worker.below(count);
  const uint64_t now = words[any];
  SOAK_REQUIRE(now >= seen[any]);
  if (any % kWorkers != static_cast<size_t>(worker.number)) seen[any] = now;
}

template <class Word, class Stored>
bool is_right(const Stored* words, const Word* expected, size_t count, int number) {
  for (size_t own = static_cast<size_t>(number); own < count; own += kWorkers)
    if (words[own] != expected[own]) return false;
  return true;
}

bool are_right(int number) {
  const Known& own = *known[number];
  return is_right(bytes.at, own.bytes, kPage, number) && is_right(halves.at, own.halves, kPage / 2, number) &&
         is_right(singles.at, own.singles, kPage / 4, number) &&
         is_right(doubles[0].at, own.doubles[0], kPage / 8, number) &&
         is_right(doubles[1].at, own.doubles[1], kPage / 8, number) &&
         is_right(small, own.small, kSmallWords, number);
}

void begin() {
  small = static_cast<volatile uint64_t*>(calloc(kSmallWords, sizeof(uint64_t)));
  for (auto& one : known) {
    one = std::make_unique<Known>();
    memset(one.get(), 0, sizeof(Known));
  }
}

void rest() {
  for (int number = 0; number < kWorkers; ++number) SOAK_REQUIRE(are_right(number));
}

}  // namespace

void add_to_words(Worker& worker) {
  Known& own = *known[worker.number];
  for (uint64_t turns = 200 + worker.below(6'000); turns > 0; --turns) {
    add(worker, bytes.at, own.bytes, kPage);
    add(worker, halves.at, own.halves, kPage / 2);
    add(worker, singles.at, own.singles, kPage / 4);
    const size_t which = turns % 2;
    add(worker, doubles[which].at, own.doubles[which], kPage / 8);
    add(worker, small, own.small, kSmallWords);
    look(worker, doubles[which].at, own.doubles[which], kPage / 8);
    look(worker, small, own.small, kSmallWords);
  }
}

bool has_own_words(const Worker& worker) {
  return are_right(worker.number);
}

const Part words{{}, begin, rest};

}  // namespace soak
