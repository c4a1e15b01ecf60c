#include <algorithm>
#include <optional>

#include "analysis/views/view.h"

namespace prof {
namespace {

// The instances of one function that were reached along one chain of callers.
struct Chain {
  uint32_t parent_row = kNone;
  uint32_t depth = 0;
  std::vector<uint32_t> functions;  // nodes of the function at the root of the chain, in preorder
  std::vector<uint32_t> callers;    // for each of them the node at this end of the chain
  std::vector<uint32_t> below;      // and the node that it calls
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
      Chain chain;
      chain.functions.assign(all.nodes.begin() + all.first[f], all.nodes.begin() + all.first[f + 1]);
      chain.callers = chain.functions;
      roots.push_back(std::move(chain));
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

  // Puts the chains that are heavy enough on the stack, the heaviest on top.
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

  std::vector<Chain> callers_of(const Chain& chain) const {
    struct Call {
      uint32_t frame, inlined, at;
    };
    std::vector<Call> calls;
    for (uint32_t i = 0; i < chain.callers.size(); ++i) {
      const uint32_t caller = tree_.nodes[chain.callers[i]].parent;
      if (caller == kNone || tree_.frames[tree_.nodes[caller].frame].kind == FrameKind::Entry) continue;
      calls.push_back({tree_.nodes[caller].frame, tree_.nodes[caller].inlined, i});
    }
    const auto key = [](const Call& call) { return std::pair(call.frame, call.inlined); };
    std::stable_sort(calls.begin(), calls.end(),
                     [&](const Call& a, const Call& b) { return key(a) < key(b); });
    std::vector<Chain> result;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (i == 0 || key(calls[i]) != key(calls[i - 1])) {
        result.emplace_back();
        result.back().parent_row = static_cast<uint32_t>(view_.rows.size() - 1);
        result.back().depth = chain.depth + 1;
      }
      const uint32_t below = chain.callers[calls[i].at];
      result.back().functions.push_back(chain.functions[calls[i].at]);
      result.back().callers.push_back(tree_.nodes[below].parent);
      result.back().below.push_back(below);
    }
    return result;
  }

  void add_row(const Chain& chain) {
    const CallNode& node = tree_.nodes[chain.callers.front()];
    bool inlined = true;
    for (const uint32_t caller : chain.callers) inlined &= tree_.nodes[caller].inlined;
    const std::vector<Instance> instances =
        mark_outermost(tree_, chain.functions.data(), chain.functions.data() + chain.functions.size());
    if (chain.depth == 0) {
      roots_.push_back(static_cast<uint32_t>(view_.rows.size()));
      root_frames_.push_back(node.frame);
    }
    view_.rows.push_back({chain.parent_row, chain.depth, node.frame, inlined, heaviest_site(chain)});
    for (size_t m = 0; m < width_; ++m) {
      view_.costs.push_back(sum_instances(tree_, instances, m));
      if (threads_) view_.threads.push_back(threads_->spread(instances, m));
    }
  }

  Place heaviest_site(const Chain& chain) const {
    std::vector<std::pair<Place, double>> sites;
    for (size_t i = 0; i < chain.below.size(); ++i) {
      const Place& site = sites_[chain.below[i]];
      if (site.known()) sites.emplace_back(site, tree_.cost(chain.functions[i], 0).exclusive);
    }
    const auto by_place = [](const auto& a, const auto& b) {
      return std::pair(a.first.file, a.first.line) < std::pair(b.first.file, b.first.line);
    };
    std::sort(sites.begin(), sites.end(), by_place);
    Place best;
    double heaviest = -1, sum = 0;
    for (size_t i = 0; i < sites.size(); ++i) {
      sum = i > 0 && sites[i].first == sites[i - 1].first ? sum + sites[i].second : sites[i].second;
      if (sum > heaviest) {
        heaviest = sum;
        best = sites[i].first;
      }
    }
    return best.known() ? best : definition(tree_.frames[tree_.nodes[chain.callers.front()].frame]);
  }

  // Where the functions themselves spend: one pass over the contexts for all of them.
  void place_roots() {
    std::vector<uint32_t> group_of_frame(tree_.frames.size(), kNone), group_of_node(tree_.nodes.size());
    for (uint32_t g = 0; g < roots_.size(); ++g) group_of_frame[root_frames_[g]] = g;
    for (uint32_t n = 0; n < tree_.nodes.size(); ++n) group_of_node[n] = group_of_frame[tree_.nodes[n].frame];
    const std::vector<HeaviestLine> places =
        heaviest_lines(tree_, group_of_node, root_frames_, LineWeight::Exclusive);
    for (size_t g = 0; g < roots_.size(); ++g) view_.rows[roots_[g]].place = places[g].place;
  }

  const CallTree& tree_;
  const ViewOptions& options_;
  const size_t width_;
  const std::vector<Place> sites_;
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
