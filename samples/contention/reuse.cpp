// Looks like contention but is not: in turn, two threads release the object that the other one used, and
// allocate and use another, which gets the same memory.

#include <condition_variable>
#include <mutex>

#include "team.h"

struct Record {
  volatile uint64_t sum;
};

std::mutex mutex;
std::condition_variable changed;
uint64_t turn = 0;
Record* left_over = nullptr;
uint64_t at_the_same_place = 0;

[[gnu::noinline]] void use(Record& record, uint64_t steps) {
  while (steps--) record.sum = record.sum + steps;
}

[[gnu::noinline]] Record* make_record() {
  return new Record();
}

void take_turns(uint64_t own, uint64_t turns, uint64_t steps) {
  for (uint64_t i = 0; i < turns; ++i) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [=] { return turn % 2 == own; });
    const auto before = reinterpret_cast<uintptr_t>(left_over);
    delete left_over;
    left_over = make_record();
    at_the_same_place += reinterpret_cast<uintptr_t>(left_over) == before;
    use(*left_over, steps);
    ++turn;
    changed.notify_one();
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 4);
  constexpr uint64_t kTurns = 60;
  team::run([=] { take_turns(0, kTurns, steps); }, [=] { take_turns(1, kTurns, steps); });
  std::printf("%llu of %llu at the same place\n", static_cast<unsigned long long>(at_the_same_place),
              static_cast<unsigned long long>(2 * kTurns));
}
