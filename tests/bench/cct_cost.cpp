// Prints the CPU time of one sample in the calling context tree and the trace: 60 frames deep, most of them
// shared with the previous sample. Has no limits to check.

#include <cstdio>
#include <ctime>
#include <functional>

#include "tests/measurement/scenario.h"

using namespace prof::test;

namespace {

double nanoseconds_each(size_t count, const std::function<void(size_t)>& work) {
  const std::clock_t start = std::clock();
  for (size_t i = 0; i < count; ++i) work(i);
  return 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / static_cast<double>(count);
}

}  // namespace

int main() {
  constexpr uint32_t kDepth = 60;
  constexpr size_t kPaths = 4096;
  constexpr size_t kRounds = 500;
  for (const uint32_t changing : {0u, 2u, 5u, 20u, 60u}) {
    TemporaryDirectory directory;
    Recorder recorder(directory / "a.prof");
    RecordedThread& thread = recorder.add_thread();
    Random random(1);
    std::vector<hpcrun::FrameKey> paths(kPaths * kDepth);
    for (size_t i = 0; i < paths.size(); ++i) {
      const size_t level = i % kDepth;  // leaf first
      paths[i] = hpcrun::make_frame(1, level < changing ? 0x1000 + random.below(3) : 0x100 + level);
    }
    std::vector<hpcrun::NodeId> nodes(kPaths);
    const auto insert = [&](size_t i) {
      nodes[i % kPaths] = thread.tree.insert(paths.data() + i % kPaths * kDepth, kDepth);
    };
    const double first = nanoseconds_each(kPaths, insert);
    const double again = nanoseconds_each(kPaths * kRounds, insert);
    const double add =
        nanoseconds_each(kPaths * kRounds, [&](size_t i) { thread.tree.add(nodes[i % kPaths], 0, 1); });
    uint64_t time = kStartMonotonic;
    const double append = nanoseconds_each(
        kPaths * kRounds, [&](size_t i) { thread.trace.append(time += 1'000'000, nodes[i % kPaths]); });
    std::printf("%2u of %u frames change: insert %.0f ns (first %.0f), add %.1f ns, trace %.1f ns\n",
                changing, kDepth, again, first, add, append);
  }
  return 0;
}
