// A calling context that is found without a walk equals the one that a walk finds. This holds in calls that
// differ in one frame far up, in frames of any size, in recursion, and when the same stack holds other calls
// later.
#include "hpcrun/device/launch_contexts.h"

#include <alloca.h>

#include <catch2/catch.hpp>
#include <map>
#include <thread>
#include <vector>

#include "hpcrun/unwind/capture.h"
#include "hpcrun/unwind/modules.h"
#include "tests/measurement/recorder.h"
#include "tests/unwind/thread_sampler.h"

using namespace hpcrun;
using prof::test::Random;

namespace {

using Frames = std::vector<FrameKey>;

// Does what the engine does, with a number for each path instead of a tree.
struct Probe {
  prof_test::ThreadWalker walker;
  Arena arena;
  LaunchContexts* contexts = static_cast<LaunchContexts*>(arena.allocate(sizeof(LaunchContexts)));
  std::map<NodeId, std::pair<Frames, uint32_t>> known;
  uint64_t found = 0, walked = 0, wrong = 0;

  ~Probe() { arena.release_all(); }
};
thread_local Probe* probe;

const char* const kKernels[] = {"KernelM", "KernelN", "KernelM2", "x", "y", "z"};

[[gnu::noinline]] void launch(uint32_t track, const char* kernel) {
  Probe& p = *probe;
  ucontext_t here;
  capture(here);
  const WalkOrigin origin{static_cast<uint64_t>(here.uc_mcontext.gregs[REG_RIP]),
                          static_cast<uint64_t>(here.uc_mcontext.gregs[REG_RSP]),
                          static_cast<uint64_t>(here.uc_mcontext.gregs[REG_RBP])};
  const LaunchTarget target{reinterpret_cast<const void*>(&launch), track, kernel};
  const NodeId node = p.contexts->find(origin, target);
  const Stack stack = p.walker.unwinder.walk(here, p.contexts->record());
  const Frames frames(stack.frames, stack.frames + stack.depth);
  if (node != kNoNode) {
    ++p.found;
    p.wrong += p.known[node] != std::pair(frames, track);
    return;
  }
  ++p.walked;
  const auto fresh = static_cast<NodeId>(p.known.size());
  p.known[fresh] = {frames, track};
  p.contexts->add(p.arena, target, fresh);
}

// Launches now and then, and calls further functions.
[[gnu::noinline]] void go_on(Random& random, int depth);

// Has frames of the same size, so that the stack below does not reveal the difference.
[[gnu::noinline]] void left(Random& random, int depth) {
  go_on(random, depth);
  asm volatile("");
}
[[gnu::noinline]] void right(Random& random, int depth) {
  go_on(random, depth);
  asm volatile("");
}
// Its frame is found by its frame pointer, which the frames below have saved.
[[gnu::noinline]] void of_any_size(Random& random, int depth) {
  volatile char* room = static_cast<char*>(alloca(16 * (1 + random.below(4))));
  room[0] = 1;
  go_on(random, depth);
  asm volatile("" : : "r"(room) : "memory");
}
// A word below its frame pointer says where its frame begins.
[[gnu::noinline]] void realigned(Random& random, int depth) {
  alignas(64) volatile char block[64];
  volatile char* room = static_cast<char*>(alloca(16 * (1 + random.below(2))));
  room[0] = 1;
  block[0] = 1;
  go_on(random, depth);
  asm volatile("" : : "r"(room), "r"(block) : "memory");
}
// Uses the frame pointer register for a number of its own.
[[gnu::noinline]] void uses_bp(Random& random, int depth) {
  uint64_t own = random.below(1'000'000);
  asm volatile("" : "+r"(own) : : "rbx", "r12", "r13", "r14", "r15");
  go_on(random, depth);
  asm volatile("" : : "r"(own) : "rbx", "r12", "r13", "r14", "r15");
}

void go_on(Random& random, int depth) {
  const uint64_t launches = random.below(4);
  for (uint64_t i = 0; i < launches; ++i)
    launch(static_cast<uint32_t>(random.below(2)), kKernels[random.below(std::size(kKernels))]);
  if (depth <= 0) return;
  constexpr void (*kNext[])(Random&, int) = {left, right, of_any_size, realigned, uses_bp};
  for (uint64_t i = 0, calls = 1 + (random.below(6) == 0); i < calls; ++i)
    kNext[random.below(std::size(kNext))](random, depth - 1);
  asm volatile("");
}

[[gnu::noinline]] void choose(int depth, uint64_t path) {
  if (depth == 0) return launch(0, "KernelM");
  if (path & 1)
    choose(depth - 1, path >> 1);
  else
    choose(depth - 1, path >> 1);
  asm volatile("");
}

[[gnu::noinline]] void launch_realigned(uint32_t track) {
  alignas(64) volatile char block[64];
  volatile char* room = static_cast<char*>(alloca(16 * (1 + track)));
  room[0] = 1;
  block[0] = 1;
  launch(track, "KernelM");
  asm volatile("" : : "r"(room), "r"(block) : "memory");
}
[[gnu::noinline]] void from_one_place(uint32_t track) {
  launch_realigned(track);
  asm volatile("");
}
[[gnu::noinline]] void from_another(uint32_t track) {
  launch_realigned(track);
  asm volatile("");
}

}  // namespace

TEST_CASE("a context is found through a realigned stack, and distinguished from another caller's") {
  refresh_modules();
  std::thread([] {
    Probe p;
    probe = &p;
    for (int round = 0; round < 10; ++round) {
      from_one_place(0);
      from_another(0);
    }
    CHECK(p.wrong == 0);
    CHECK(p.walked == 2);
    CHECK(p.found == 18);
  }).join();
}

TEST_CASE("a context that is found is the one that a walk finds, in random calls") {
  refresh_modules();
  for (const uint64_t seed : {1, 2, 3}) {
    std::thread([&] {
      Probe p;
      probe = &p;
      Random random(seed);
      for (int round = 0; round < 2'000; ++round) {
        // From few starting points, so that paths recur and diverge again.
        Random again(random.below(40));
        go_on(again, static_cast<int>(again.below(again.below(8) == 0 ? 60 : 12)));
      }
      CHECK(p.wrong == 0);
      CHECK(p.found > 1'000);
      CHECK(p.walked > 1'000);
    }).join();
  }
}

TEST_CASE("a context is found whenever its path comes again, also among many from one stack pointer") {
  refresh_modules();
  std::thread([] {
    Probe p;
    probe = &p;
    for (int round = 0; round < 100; ++round)
      for (uint64_t path = 0; path < 64; ++path) choose(6, path);
    CHECK(p.wrong == 0);
    CHECK(p.walked <= 2 * 64);
    CHECK(p.known.size() == p.walked);
  }).join();
}

TEST_CASE("what was found out before modules changed is not used any more") {
  refresh_modules();
  std::thread([] {
    Probe p;
    probe = &p;
    uint64_t found = 0, walked = 0;
    for (int i = 0; i < 8; ++i) {
      asm volatile("" : "+r"(i));  // not unrolled: one call, except in the first iteration
      if (i == 5) {
        invalidate_walk_caches();
        walked = p.walked;
        found = p.found;
      }
      choose(3, 5);
      if (i == 5) {
        CHECK(found > 0);
        CHECK(p.found == found);
        CHECK(p.walked == walked + 1);
      }
    }
    CHECK(p.found > found);
    CHECK(p.wrong == 0);
  }).join();
}

TEST_CASE("more queues and kernels than are kept for one path are walked for, and never mixed up") {
  refresh_modules();
  std::thread([] {
    Probe p;
    probe = &p;
    for (int round = 0; round < 50; ++round)
      for (uint32_t track = 0; track < 3; ++track)
        for (const char* kernel : kKernels) launch(track, kernel);
    CHECK(p.wrong == 0);
    CHECK(p.found + p.walked == 50 * 3 * std::size(kKernels));
  }).join();
}
