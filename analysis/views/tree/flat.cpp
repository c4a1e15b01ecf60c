#include <algorithm>
#include <numeric>
#include <tuple>

#include "analysis/views/tree/view.h"

namespace prof {

FrameInstances instances_of_frames(const CallTree& tree) {
  FrameInstances instances;
  instances.first.assign(tree.frames.size() + 1, 0);
  for (const CallNode& node : tree.nodes) ++instances.first[node.frame + 1];
  std::partial_sum(instances.first.begin(), instances.first.end(), instances.first.begin());
  std::vector<uint32_t> next(instances.first.begin(), instances.first.end() - 1);
  instances.nodes.resize(tree.nodes.size());
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) instances.nodes[next[tree.nodes[n].frame]++] = n;
  return instances;
}

std::vector<Instance> mark_outermost(const CallTree& tree, const uint32_t* begin, const uint32_t* end) {
  std::vector<Instance> marked;
  marked.reserve(static_cast<size_t>(end - begin));
  uint32_t covered = 0;
  for (const uint32_t* node = begin; node != end; ++node) {
    marked.push_back({*node, *node >= covered});
    covered = std::max(covered, tree.nodes[*node].end);
  }
  return marked;
}

Cost sum_instances(const CallTree& tree, const std::vector<Instance>& instances, size_t metric) {
  Cost sum;
  for (const Instance& instance : instances) {
    const Cost& cost = tree.cost(instance.node, metric);
    sum.exclusive += cost.exclusive;
    if (instance.outermost) sum.inclusive += cost.inclusive;
  }
  return sum;
}

View flat(const CallTree& tree, const ViewOptions& options) {
  struct Candidate {
    uint32_t frame;
    std::vector<Instance> instances;
    std::vector<Cost> costs;
  };
  const size_t width = tree.metrics();
  const FrameInstances all = instances_of_frames(tree);
  std::vector<Candidate> shown;
  for (uint32_t f = 0; f < tree.frames.size(); ++f) {
    Candidate candidate{
        f, mark_outermost(tree, all.nodes.data() + all.first[f], all.nodes.data() + all.first[f + 1]), {}};
    bool heavy = false;
    for (size_t m = 0; m < width; ++m) {
      const Cost cost = sum_instances(tree, candidate.instances, m);
      candidate.costs.push_back(cost);
      // An entry point is not a function: it only has costs for which no frame was known.
      heavy |= passes(tree, cost.exclusive, m, options.threshold_percent) ||
               (tree.frames[f].kind != FrameKind::Entry &&
                passes(tree, cost.inclusive, m, options.threshold_percent));
    }
    if (heavy) shown.push_back(std::move(candidate));
  }
  std::stable_sort(shown.begin(), shown.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.costs[0].exclusive, a.costs[0].inclusive) >
           std::tie(b.costs[0].exclusive, b.costs[0].inclusive);
  });

  View view;
  std::vector<uint32_t> row_of_node(tree.nodes.size(), kNone), frame_of_row;
  for (const Candidate& candidate : shown) {
    const auto row = static_cast<uint32_t>(view.rows.size());
    bool inlined = true;
    for (const Instance& instance : candidate.instances) {
      row_of_node[instance.node] = row;
      inlined &= tree.nodes[instance.node].inlined;
    }
    frame_of_row.push_back(candidate.frame);
    view.rows.push_back({kNone, 0, candidate.frame, inlined, {}});
    view.costs.insert(view.costs.end(), candidate.costs.begin(), candidate.costs.end());
  }
  const std::vector<HeaviestLine> locations =
      heaviest_lines(tree, row_of_node, frame_of_row, LineWeight::Exclusive);
  for (size_t r = 0; r < view.rows.size(); ++r) view.rows[r].location = locations[r].location;

  if (options.statistics) {
    const ThreadCosts threads(tree);
    for (const Candidate& candidate : shown)
      for (size_t m = 0; m < width; ++m) view.threads.push_back(threads.spread(candidate.instances, m));
  }
  return view;
}

}  // namespace prof
