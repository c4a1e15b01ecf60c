#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>
#include <map>

#include "tests/measurement/scenario.h"

using namespace prof;
using namespace prof::test;
using hpcrun::FrameKey;
using hpcrun::kNoNode;
using hpcrun::kRootNode;
using hpcrun::make_frame;
using hpcrun::NodeId;

namespace {

// A straightforward calling context tree for comparison.
class ReferenceTree {
 public:
  NodeId insert(const std::vector<FrameKey>& path) {
    NodeId node = kRootNode;
    for (auto frame = path.rbegin(); frame != path.rend(); ++frame) {
      node = nodes_.try_emplace({node, *frame}, static_cast<NodeId>(nodes_.size() + 1)).first->second;
    }
    return node;
  }
  const std::map<std::pair<NodeId, FrameKey>, NodeId>& nodes() const { return nodes_; }

 private:
  std::map<std::pair<NodeId, FrameKey>, NodeId> nodes_;
};

struct Tree {
  TemporaryDirectory directory;
  Recorder recorder{directory / "a.prof"};
  RecordedThread& thread = recorder.add_thread();
  NodeId insert(const std::vector<FrameKey>& path) {
    return thread.tree.insert(path.data(), static_cast<uint32_t>(path.size()));
  }
  MeasuredThread read() {
    recorder.finish();
    return read_measurement(recorder.path()).threads.at(0);
  }
};

std::vector<FrameKey> random_path(Random& random) {
  std::vector<FrameKey> path(random.below(30));
  for (FrameKey& frame : path) frame = make_frame(static_cast<uint16_t>(random.below(3)), random.below(4));
  return path;
}

}  // namespace

TEST_CASE("random paths get the nodes that a plain map gives them") {
  Tree tree;
  ReferenceTree reference;
  Random random(1);
  std::vector<std::vector<FrameKey>> seen;
  for (int i = 0; i < 30'000; ++i) {
    if (seen.empty() || random.below(2) == 0) seen.push_back(random_path(random));
    const std::vector<FrameKey>& path = seen[random.below(seen.size())];
    REQUIRE(tree.insert(path) == reference.insert(path));
  }
  const MeasuredThread read = tree.read();
  REQUIRE(read.nodes.size() == reference.nodes().size() + 1);
  for (const auto& [key, node] : reference.nodes()) {
    REQUIRE(read.nodes[node].parent == key.first);
    REQUIRE(read.nodes[node].frame == key.second);
  }
}

TEST_CASE("paths that differ from the one before by a few frames get the right nodes") {
  Tree tree;
  ReferenceTree reference;
  Scenario scenario(2);
  for (int i = 0; i < 50'000; ++i) {
    const Scenario::Step step = scenario.next();
    REQUIRE(tree.insert(step.path) == reference.insert(step.path));
  }
}

TEST_CASE("values add up per node and metric") {
  Tree tree;
  std::map<std::pair<NodeId, uint16_t>, std::pair<uint64_t, uint64_t>> expected;
  Random random(3);
  for (int i = 0; i < 50'000; ++i) {
    const NodeId node = tree.insert({make_frame(1, random.below(700))});
    const auto metric = static_cast<uint16_t>(random.below(5) * 8'000);
    const uint64_t value = random.next() >> 20;
    REQUIRE(tree.thread.tree.add(node, metric, value));
    auto& [samples, sum] = expected[{node, metric}];
    ++samples;
    sum += value;
  }
  const MeasuredThread read = tree.read();
  REQUIRE(read.cells.size() == expected.size());
  for (const MeasuredCell& cell : read.cells) {
    const auto& [samples, sum] = expected[{cell.node, cell.metric}];
    REQUIRE(cell.samples == samples);
    REQUIRE(cell.value == sum);
  }
}

TEST_CASE("a wait under way is distinguished from values, and not reported when it is over") {
  Tree tree;
  const NodeId node = tree.insert({make_frame(1, 1)});
  hpcrun::ValueCell* const cell = tree.thread.tree.wait_cell(node, 3);
  REQUIRE(cell != nullptr);
  cell->value = 0;
  REQUIRE(tree.thread.tree.wait_cell(node, 3) == cell);
  REQUIRE(tree.thread.tree.add(node, 3, 7, 2));
  tree.thread.tree.wait_cell(tree.insert({make_frame(1, 2)}), 3)->value = 1234;
  const MeasuredThread read = tree.read();
  REQUIRE(read.cells.size() == 1);
  REQUIRE(read.cells[0].samples == 2);
  REQUIRE(read.cells[0].value == 7);
  REQUIRE(read.waits.size() == 1);
  REQUIRE(read.waits[0].metric == 3);
  REQUIRE(read.waits[0].since_ns == 1234);
}

TEST_CASE("recursion is kept, to the depth limit") {
  Tree tree;
  const FrameKey frame = make_frame(1, 0x400);
  const FrameKey main_frame = make_frame(1, 0x100);
  std::vector<FrameKey> path(hpcrun::kMaxDepth - 1, frame);
  path.push_back(main_frame);
  const NodeId deep = tree.insert(path);
  CHECK(deep == hpcrun::kMaxDepth);
  path.erase(path.begin());
  CHECK(tree.insert(path) == deep - 1);
  path.assign(2, frame);
  path.push_back(main_frame);
  CHECK(tree.insert(path) == 3);

  const MeasuredThread read = tree.read();
  REQUIRE(read.nodes.size() == hpcrun::kMaxDepth + 1);
  CHECK(read.nodes[1].frame == main_frame);
  for (NodeId node = 2; node <= deep; ++node) {
    REQUIRE(read.nodes[node].frame == frame);
    REQUIRE(read.nodes[node].parent == node - 1);
  }
}

TEST_CASE("a path deeper than the limit is cut at the root end") {
  Tree tree;
  std::vector<FrameKey> path;
  for (uint64_t i = 0; i < hpcrun::kMaxDepth + 100; ++i) path.push_back(make_frame(1, i));
  const NodeId node = tree.insert(path);
  const MeasuredThread read = tree.read();
  CHECK(read.nodes[node].frame == path.front());
  CHECK(read.nodes[1].frame == path[hpcrun::kMaxDepth - 1]);
}

TEST_CASE("an empty path is the root, and the root takes values") {
  Tree tree;
  CHECK(tree.insert({}) == kRootNode);
  CHECK(tree.thread.tree.add(kRootNode, 0, 5));
  const MeasuredThread read = tree.read();
  REQUIRE(read.cells.size() == 1);
  CHECK(read.cells[0].node == 0);
  CHECK(read.cells[0].value == 5);
}

TEST_CASE("nodes that do not exist take no value, and nothing is added after sealing") {
  Tree tree;
  const NodeId node = tree.insert({make_frame(1, 1)});
  CHECK_FALSE(tree.thread.tree.add(node + 1, 0, 1));
  CHECK_FALSE(tree.thread.tree.add(kNoNode, 0, 1));
  CHECK(tree.thread.tree.add(node, 0, 1));
  tree.thread.seal();
  CHECK_FALSE(tree.thread.tree.add(node, 0, 1));
  CHECK(tree.insert({make_frame(1, 2)}) == kNoNode);
  CHECK_FALSE(tree.thread.trace.append(1, node));
  CHECK_FALSE(tree.thread.trace.append_gap(2));
}

TEST_CASE("an ordinary thread's tree and trace stay far below a mebibyte, and nothing maps a file for good") {
  Tree tree;
  Random random(4);
  std::vector<std::vector<FrameKey>> paths;
  for (int i = 0; i < 300; ++i) {
    paths.push_back(random_path(random));
    paths.back().resize(30, make_frame(1, 9));
  }
  uint64_t time = kStartMonotonic;
  for (int i = 0; i < 60'000; ++i) {
    const NodeId node = tree.insert(paths[random.below(paths.size())]);
    REQUIRE(tree.thread.tree.add(node, 0, 1'000'000));
    REQUIRE(tree.thread.trace.append(time += 1'000'000, node));
  }
  const size_t memory = tree.thread.arena.bytes_mapped() + tree.recorder.file.bytes_mapped();
  std::cout << "one thread, 60,000 samples of 300 paths: " << memory / 1024 << " KiB mapped, "
            << std::filesystem::file_size(tree.recorder.path()) / 1024 << " KiB reserved on disk\n";
  CHECK(memory < 1024 * 1024 / 2);
  tree.recorder.finish();
  // Only the header page stays.
  CHECK(tree.recorder.file.bytes_mapped() == hpcrun::kPageBytes);
  std::cout << "its file: " << std::filesystem::file_size(tree.recorder.path()) * 1000 / 60'000
            << " bytes per 1,000 samples\n";
}
