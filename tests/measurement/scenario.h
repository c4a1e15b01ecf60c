#pragma once
// Test support: a repeatable sequence of samples of one thread. It allows comparing a file with what was
// recorded, even by another process.

#include <string>
#include <vector>

#include "hpcrun/measurement/reader.h"
#include "tests/measurement/recorder.h"

namespace prof::test {

// The samples of one thread: each is a call path, a metric value and a trace record; some are gaps.
class Scenario {
 public:
  explicit Scenario(uint64_t seed) : random_(seed) {}

  struct Step {
    bool gap = false;
    std::vector<hpcrun::FrameKey> path;  // leaf first
    uint16_t metric = 0;
    uint64_t value = 0;
    uint64_t time_ns = 0;
  };

  Step next() {
    Step step;
    time_ns_ += 1 + random_.below(4'000'000);
    step.time_ns = time_ns_;
    step.gap = random_.below(50) == 0;
    if (step.gap) return step;
    // Walks: some frames return, some are called.
    while (!stack_.empty() && random_.below(3) != 0) stack_.pop_back();
    do {
      stack_.push_back(
          hpcrun::make_frame(static_cast<uint16_t>(1 + random_.below(3)), 0x1000 + random_.below(6)));
    } while (stack_.size() < 40 && random_.below(2) == 0);
    step.path.assign(stack_.rbegin(), stack_.rend());
    step.metric = static_cast<uint16_t>(random_.below(2));
    step.value = 1 + random_.below(1'000'000);
    return step;
  }

 private:
  Random random_;
  std::vector<hpcrun::FrameKey> stack_;
  uint64_t time_ns_ = kStartMonotonic;
};

// Returns false as soon as a call is refused.
inline bool record(RecordedThread& thread, const Scenario::Step& step) {
  if (step.gap) return thread.trace.append_gap(step.time_ns);
  const hpcrun::NodeId node = thread.tree.insert(step.path.data(), static_cast<uint32_t>(step.path.size()));
  return node != hpcrun::kNoNode && thread.tree.add(node, step.metric, step.value) &&
         thread.trace.append(step.time_ns, node);
}

inline std::vector<std::string> texts(const std::vector<MeasuredNote>& notes) {
  std::vector<std::string> texts;
  for (const MeasuredNote& note : notes) texts.push_back(note.text);
  return texts;
}

// Returns the call path of a node, leaf first.
inline std::vector<hpcrun::FrameKey> path_of(const MeasuredThread& thread, uint32_t node) {
  std::vector<hpcrun::FrameKey> path;
  for (; node != 0; node = thread.nodes.at(node).parent) path.push_back(thread.nodes.at(node).frame);
  return path;
}

inline std::vector<TraceSample> whole_trace(const MeasuredThread& thread) {
  std::vector<TraceSample> all;
  std::vector<TraceSample> block(1000);
  TraceReader reader = thread.trace();
  while (const size_t count = reader.read(block)) {
    all.insert(all.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return all;
}

constexpr uint64_t quantized(uint64_t time_ns) {
  return time_ns / hpcrun::kTraceQuantumNs * hpcrun::kTraceQuantumNs;
}

}  // namespace prof::test
