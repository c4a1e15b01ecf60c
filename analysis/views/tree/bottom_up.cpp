#include <algorithm>
#include <optional>

#include "analysis/views/tree/callers.h"
#include "analysis/views/tree/view.h"

namespace prof {
namespace {

// A future row: the instances of one function that were reached along one chain of callers.
struct Chain : CallerChain {
  uint32_t parent_row = kNone;
  uint32_t depth = 0;
};

class BottomUp {
 public:
  BottomUp(const CallTree& tree, const ViewOptions& options)
      : tree_(tree), options_(options), width_(tree.metrics()), sites_(call_sites(tree)) {
    if (options.statistics) threads_.emplace(tree);
  }

  View build() {
    const FrameInstances all = instances_of_frames(tree_);
    std::vector<Chain> roots;
    for (uint32_t f = 0; f < tree_.frames.size(); ++f) {
      roots.push_back({chain_without_callers(all, f), kNone, 0});
    }
    push(std::move(roots));
    while (!stack_.empty()) {
      const Chain chain = std::move(stack_.back());
      stack_.pop_back();
      add_row(chain);
      if (options_.levels == 0 || chain.depth + 1 < options_.levels) push(callers_of(chain));
    }
    place_roots();
    return std::move(view_);
  }

 private:
  double exclusive(const Chain& chain, size_t m) const {
    double sum = 0;
    for (const uint32_t node : chain.functions) sum += tree_.cost(node, m).exclusive;
    return sum;
  }

  // Pushes the chains that are expensive enough, the most expensive one on top.
  void push(std::vector<Chain> chains) {
    std::vector<std::pair<double, size_t>> order;
    for (size_t i = 0; i < chains.size(); ++i) {
      bool heavy = false;
      for (size_t m = 0; m < width_; ++m)
        heavy |= passes(tree_, exclusive(chains[i], m), m, options_.threshold_percent);
      if (heavy) order.emplace_back(exclusive(chains[i], 0), i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto at = order.rbegin(); at != order.rend(); ++at) stack_.push_back(std::move(chains[at->second]));
  }

  // The chain that the last row shows.
  std::vector<Chain> callers_of(const Chain& chain) const {
    std::vector<Chain> result;
    for (CallerChain& longer : with_callers(tree_, chain))
      result.push_back({std::move(longer), static_cast<uint32_t>(view_.rows.size() - 1), chain.depth + 1});
    return result;
  }

  void add_row(const Chain& chain) {
    const CallNode& node = tree_.nodes[chain.callers.front()];
    const std::vector<Instance> instances =
        mark_outermost(tree_, chain.functions.data(), chain.functions.data() + chain.functions.size());
    if (chain.depth == 0) {
      roots_.push_back(static_cast<uint32_t>(view_.rows.size()));
      root_frames_.push_back(node.frame);
    }
    view_.rows.push_back(
        {chain.parent_row, chain.depth, node.frame, is_inlined(tree_, chain), location_of_call(chain)});
    for (size_t m = 0; m < width_; ++m) {
      view_.costs.push_back(sum_instances(tree_, instances, m));
      if (threads_) view_.threads.push_back(threads_->spread(instances, m));
    }
  }

  SourceLocation location_of_call(const Chain& chain) const {
    return chain.below.empty()
               ? SourceLocation{}
               : heaviest_site(tree_, chain, 0, [this](uint32_t node) { return sites_[node]; });
  }

  // Finds where the functions themselves spend: one pass over the contexts for all of them.
  void place_roots() {
    std::vector<uint32_t> group_of_frame(tree_.frames.size(), kNone), group_of_node(tree_.nodes.size());
    for (uint32_t g = 0; g < roots_.size(); ++g) group_of_frame[root_frames_[g]] = g;
    for (uint32_t n = 0; n < tree_.nodes.size(); ++n) group_of_node[n] = group_of_frame[tree_.nodes[n].frame];
    const std::vector<HeaviestLine> locations =
        heaviest_lines(tree_, group_of_node, root_frames_, LineWeight::Exclusive);
    for (size_t g = 0; g < roots_.size(); ++g) view_.rows[roots_[g]].location = locations[g].location;
  }

  const CallTree& tree_;
  const ViewOptions& options_;
  const size_t width_;
  const std::vector<SourceLocation> sites_;
  std::optional<ThreadCosts> threads_;
  std::vector<Chain> stack_;
  std::vector<uint32_t> roots_, root_frames_;  // rows at depth 0 and their frames
  View view_;
};

}  // namespace

View bottom_up(const CallTree& tree, const ViewOptions& options) {
  return BottomUp(tree, options).build();
}

}  // namespace prof
