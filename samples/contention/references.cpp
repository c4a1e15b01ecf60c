// False sharing next to harmless atomics. Two threads copy smart pointers, each to an object of its own; the
// reference counts lie on a page without contention. On another page they count their steps in adjacent words
// of one cache line: after TMI's microbenchmarks shptr-relaxed and shptr-lock. references keeps the counts by
// relaxed atomics, references_locked under a mutex per object. The _fixed versions give each counter a line
// of its own.

#include <mutex>

#include "team.h"

// Aligned so that each lies on a page of its own.
struct alignas(4096) Object {
#ifdef LOCKED
  std::mutex lock;
  uint64_t references = 0;
  void add(uint64_t change) {
    const std::lock_guard guard(lock);
    references += change;
  }
#else
  std::atomic<uint64_t> references{0};
  void add(uint64_t change) {
    references.fetch_add(change, std::memory_order_relaxed);
  }
#endif
};

class Pointer {
 public:
  explicit Pointer(Object* object) : object_(object) { object_->add(1); }
  Pointer(const Pointer& other) : Pointer(other.object_) {}
  ~Pointer() { object_->add(uint64_t{0} - 1); }

 private:
  Object* object_;
};

#ifdef FIXED
struct alignas(64) Counter {
#else
struct Counter {
#endif
  uint64_t steps, bytes, longest;
};

alignas(4096) Counter counters[8];  // of threads; two work
Object objects[2];

constexpr uint64_t kCopies = 64;  // steps between two copies of a pointer

[[gnu::noinline]] void hand_around(const Pointer& pointer) {
  const Pointer copy = pointer;
}

// A call, so that each step reaches memory. If the counters were volatile, `prof c++` would keep them common.
[[gnu::noinline]] void count(Counter& own, uint64_t bytes) {
  ++own.steps;
  own.bytes += bytes;
  if (bytes > own.longest) own.longest = bytes;
}

[[gnu::noinline]] void step_first(uint64_t steps) {
  const Pointer pointer(&objects[0]);
  while (steps--) {
    count(counters[0], steps % 1500);
    if (steps % kCopies == 0) hand_around(pointer);
  }
}

[[gnu::noinline]] void step_second(uint64_t steps) {
  const Pointer pointer(&objects[1]);
  while (steps--) {
    count(counters[1], steps % 1500);
    if (steps % kCopies == 0) hand_around(pointer);
  }
}

int main(int argc, char** argv) {
  const uint64_t steps = team::steps(argc, argv, 200);
  team::run([=] { step_first(steps); }, [=] { step_second(steps); });
  std::printf("%llu %llu\n", static_cast<unsigned long long>(counters[0].steps + counters[1].steps),
              static_cast<unsigned long long>(objects[0].references + objects[1].references));
}
