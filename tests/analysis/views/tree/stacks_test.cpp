// Call paths with lines, and the exclusive cost of each thread in them.

#include "analysis/views/tree/stacks.h"

#include <catch2/catch.hpp>
#include <map>

#include "analysis/views/tree/own_costs.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

// Returns "main:41 fast_sum:22 [add:4]" for a node of the stacks.
std::string words(const CallTree& tree, const Stacks& stacks, uint32_t node) {
  std::string text;
  for (; node != kNone; node = stacks.nodes[node].parent) {
    const CallNode& call = tree.nodes[stacks.nodes[node].call];
    const SourceLocation& location = stacks.nodes[node].location;
    std::string frame = frame_name(*tree.database, tree.frames[call.frame]);
    if (location.known()) frame += ":" + std::to_string(location.line);
    if (call.inlined) frame = "[" + frame + "]";
    text = frame + (text.empty() ? "" : " ") + text;
  }
  return text;
}

// Returns the cost of a thread by the text of the path.
std::map<std::string, double> spent(const Database& database, uint32_t profile,
                                    bool merge_recursion = false) {
  const CallTree tree = build_call_tree(database, select(database, {}, {}), merge_recursion);
  const Stacks stacks = build_stacks(tree);
  OwnCostsByThread costs(tree, stacks.node_of, stacks.nodes.size());
  std::map<std::string, double> result;
  const OwnCosts& own = costs.of(profile);
  for (size_t i = 0; i < own.nodes.size(); ++i) {
    const auto [at, is_new] =
        result.emplace(words(tree, stacks, own.nodes[i]), own.values[i * tree.metrics()]);
    CHECK(is_new);
  }
  return result;
}

}  // namespace

TEST_CASE("stacks keep the lines of calls, and costs stay with the thread that has them") {
  using Costs = std::map<std::string, double>;
  CHECK(spent(example(), 0) == Costs{{"main thread main:40 slow_sum:14", 4.96},
                                     {"main thread main:41 fast_sum:22 [add:4]", 0.75},
                                     {"main thread main:41 fast_sum:23", 0.25},
                                     {"main thread main:44 write", 0.04}});
  CHECK(spent(example(), 1) == Costs{{"application thread worker:25 fast_sum:22 [add:4]", 2.0}});
}

TEST_CASE("merged recursion continues below the callers of the outermost frame") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 1}, {"f", 2}, {"g", 3}, {"f", 4}, {"g", 5}}, 1);
  b.spend(t, {{"main", 1}, {"f", 2}, {"g", 3}, {"f", 6}}, 2);
  using Costs = std::map<std::string, double>;
  CHECK(spent(b.build(), t, true) == Costs{{"main thread main:1 f:4 g:5", 1}, {"main thread main:1 f:6", 2}});
}

TEST_CASE("what was spent in a function without a line stays apart from what its lines spent") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"f", 0}}, 1);
  b.spend(t, {{"f", 7}}, 2);
  using Costs = std::map<std::string, double>;
  CHECK(spent(b.build(), t) == Costs{{"main thread f", 1}, {"main thread f:7", 2}});
}
