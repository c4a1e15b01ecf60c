#include "analysis/views/tree/call_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace prof {
namespace {

class FrameTable {
 public:
  explicit FrameTable(const Database& database)
      : database_(database), of_function_(database.functions.size(), kNone) {}

  uint32_t frame_of(uint32_t context) {
    const Context& c = database_.contexts[context];
    switch (c.kind) {
      case ContextKind::Function:
        if (c.function < database_.functions.size()) return of_function(c.function);
        break;
      case ContextKind::Entry:
        return unique(entries_, c.entry, {FrameKind::Entry, context, kNone, 0, kNone, 0});
      case ContextKind::Instruction:
        if (c.module < database_.modules.size())
          return unique(instructions_, {c.module, c.offset},
                        {FrameKind::Instruction, kNone, c.module, c.offset, kNone, 0});
        break;
      case ContextKind::Line:
      case ContextKind::Loop:
        if (c.file < database_.files.size())
          return unique(lines_, {c.file, c.line}, {FrameKind::Line, kNone, kNone, 0, c.file, c.line});
        break;
    }
    if (unknown_ == kNone) unknown_ = add({});
    return unknown_;
  }

  std::vector<Frame> take() { return std::move(frames_); }

 private:
  uint32_t add(const Frame& frame) {
    frames_.push_back(frame);
    return static_cast<uint32_t>(frames_.size() - 1);
  }
  uint32_t of_function(uint32_t index) {
    if (of_function_[index] == kNone) {
      const Function& f = database_.functions[index];
      of_function_[index] = add({FrameKind::Function, index, f.module, f.offset, f.file, f.line});
    }
    return of_function_[index];
  }
  template <class Key>
  uint32_t unique(std::map<Key, uint32_t>& known, const Key& key, const Frame& frame) {
    const auto [at, is_new] = known.try_emplace(key, kNone);
    if (is_new) at->second = add(frame);
    return at->second;
  }

  const Database& database_;
  std::vector<Frame> frames_;
  std::vector<uint32_t> of_function_;
  std::map<std::string, uint32_t> entries_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> instructions_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> lines_;
  uint32_t unknown_ = kNone;
};

// Finds the child of a node by frame; an open hash table of node numbers, because a million contexts have to
// be folded in a fraction of a second.
class NodeIndex {
 public:
  NodeIndex(std::vector<CallNode>& nodes, Inlining inlining)
      : nodes_(nodes), tells_inlined_(inlining == Inlining::TellsApart), slots_(1024, kNone) {}

  uint32_t find_or_add(uint32_t parent, uint32_t frame, bool inlined) {
    size_t slot = hash(parent, frame, inlined) & (slots_.size() - 1);
    while (slots_[slot] != kNone) {
      const CallNode& node = nodes_[slots_[slot]];
      if (node.parent == parent && node.frame == frame && (node.inlined == inlined || !tells_inlined_))
        return slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    const auto id = static_cast<uint32_t>(nodes_.size());
    const uint32_t depth = parent == kNone ? 0 : nodes_[parent].depth + 1;
    nodes_.push_back({parent, 0, frame, depth, inlined});
    slots_[slot] = id;
    if (nodes_.size() * 2 > slots_.size()) grow();
    return id;
  }

 private:
  size_t hash(uint32_t parent, uint32_t frame, bool inlined) const {
    uint64_t h = (static_cast<uint64_t>(parent) << 32 | frame) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ (inlined && tells_inlined_ ? 0x55u : 0u)) * 0xBF58476D1CE4E5B9u;
    return h ^ (h >> 32);
  }
  void grow() {
    slots_.assign(slots_.size() * 4, kNone);
    for (uint32_t id = 0; id < nodes_.size(); ++id) {
      const CallNode& node = nodes_[id];
      size_t slot = hash(node.parent, node.frame, node.inlined) & (slots_.size() - 1);
      while (slots_[slot] != kNone) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = id;
    }
  }

  std::vector<CallNode>& nodes_;
  const bool tells_inlined_;
  std::vector<uint32_t> slots_;
};

uint32_t on_path(const std::vector<CallNode>& nodes, uint32_t node, uint32_t frame) {
  while (node != kNone && nodes[node].frame != frame) node = nodes[node].parent;
  return node;
}

// The position of each node in preorder. In the input, parents come before children.
std::vector<uint32_t> preorder(const std::vector<CallNode>& nodes, const std::vector<double>& weight) {
  const size_t n = nodes.size();
  std::vector<uint32_t> size(n, 1), first(n + 2, 0), children(n), place(n);
  for (size_t i = n; i-- > 0;) {
    if (nodes[i].parent != kNone) size[nodes[i].parent] += size[i];
  }
  const auto bucket = [&](size_t i) {
    return nodes[i].parent == kNone ? size_t{0} : nodes[i].parent + size_t{1};
  };
  for (size_t i = 0; i < n; ++i) ++first[bucket(i) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  for (uint32_t i = 0; i < n; ++i) children[next[bucket(i)]++] = i;
  for (size_t b = 0; b <= n; ++b) {
    const auto begin = children.begin() + first[b], end = children.begin() + first[b + 1];
    // stable_sort allocates even for one element.
    if (end - begin > 1)
      std::stable_sort(begin, end, [&](uint32_t x, uint32_t y) { return weight[x] > weight[y]; });
    // Bucket b holds the children of node b - 1, whose position is known, because parents come first.
    uint32_t at = b == 0 ? 0 : place[b - 1] + 1;
    for (auto child = begin; child != end; ++child) {
      place[*child] = at;
      at += size[*child];
    }
  }
  return place;
}

// Sums the exclusive costs of each subtree. Nodes come with parents before children.
void recompute_inclusive(const std::vector<CallNode>& nodes, std::vector<Cost>& costs) {
  for (Cost& cost : costs) cost.inclusive = cost.exclusive;
  for (size_t i = nodes.size(); i-- > 0;)
    if (nodes[i].parent != kNone) costs[nodes[i].parent].inclusive += costs[i].inclusive;
}

// Sorts by the inclusive costs in the first of the known columns, which become those of the tree.
void sort_into_preorder(CallTree& tree, CostColumns known) {
  const size_t n = tree.nodes.size();
  std::vector<double> weight(n, 0);
  for (uint32_t i = 0; i < n && !known.empty(); ++i) weight[i] = known[0][i].inclusive;
  const std::vector<uint32_t> place = preorder(tree.nodes, weight);

  std::vector<CallNode> nodes(n);
  for (uint32_t i = 0; i < n; ++i) {
    CallNode node = tree.nodes[i];
    if (node.parent != kNone) node.parent = place[node.parent];
    nodes[place[i]] = node;
  }
  for (size_t i = n; i-- > 0;) {
    CallNode& node = nodes[i];
    node.end = std::max(node.end, static_cast<uint32_t>(i + 1));
    if (node.parent != kNone) nodes[node.parent].end = std::max(nodes[node.parent].end, node.end);
  }
  for (std::vector<Cost>& column : known) {
    std::vector<Cost> sorted(n);
    for (uint32_t i = 0; i < n; ++i) sorted[place[i]] = column[i];
    column = std::move(sorted);
  }
  for (uint32_t& node : tree.node_of) node = place[node];
  tree.nodes = std::move(nodes);
  tree.costs = LazyColumns(tree.metrics(), std::move(known));
}

// In a folded tree they are sums over its nodes; otherwise over the contexts without a caller, in the order
// of their nodes.
std::vector<double> totals_of(const CallTree& tree) {
  std::vector<double> totals(tree.metrics(), 0);
  if (tree.is_folded) {
    for (uint32_t i = 0; i < tree.nodes.size(); i = tree.nodes[i].end)
      for (size_t m = 0; m < totals.size(); ++m) totals[m] += tree.cost(i, m).inclusive;
    return totals;
  }
  std::map<uint32_t, std::vector<double>> by_root;
  for (const uint32_t c : tree.starts) {
    if (tree.database->contexts[c].parent != kNone) continue;
    std::vector<double>& sums = by_root.try_emplace(tree.node_of[c], totals.size()).first->second;
    for (size_t m = 0; m < totals.size(); ++m) sums[m] += tree.by_context[m][c].inclusive;
  }
  for (const auto& [root, sums] : by_root)
    for (size_t m = 0; m < totals.size(); ++m) totals[m] += sums[m];
  return totals;
}

}  // namespace

bool starts_frame(const Context& context) {
  return context.parent == kNone || context.relation != Relation::Enclosing ||
         context.kind == ContextKind::Function || context.kind == ContextKind::Entry;
}

std::string frame_name(const Database& database, const Frame& frame) {
  switch (frame.kind) {
    case FrameKind::Function:
      if (!database.functions[frame.index].name.empty()) return database.functions[frame.index].name;
      break;
    case FrameKind::Entry:
      if (!database.contexts[frame.index].entry.empty()) return database.contexts[frame.index].entry;
      return "<entry>";
    case FrameKind::Line:
      return fmt::format("<{}:{}>", database.files[frame.file].path, frame.line);
    case FrameKind::Instruction:
    case FrameKind::Unknown:
      break;
  }
  if (frame.module >= database.modules.size()) return "<unknown>";
  const std::string& path = database.modules[frame.module].path;
  return fmt::format("{}+{:#x}", path.substr(path.rfind('/') + 1), frame.offset);
}

void finish_folded(CallTree& tree, CostColumns exclusive) {
  for (std::vector<Cost>& column : exclusive) recompute_inclusive(tree.nodes, column);
  sort_into_preorder(tree, std::move(exclusive));
}

std::vector<Cost> CallTree::node_costs(size_t m) const {
  std::vector<Cost> column(nodes.size());
  for (const uint32_t c : starts) {
    const Cost& cost = by_context[m][c];
    column[node_of[c]].inclusive += cost.inclusive;
    column[node_of[c]].exclusive += cost.exclusive;
  }
  if (is_folded) recompute_inclusive(nodes, column);
  return column;
}

CallTree build_call_tree(const Database& database, const Selection& selection, bool merge_recursion) {
  return build_call_tree(database, selection, context_costs(database, selection), merge_recursion,
                         Inlining::TellsApart);
}

CallTree build_call_tree(const Database& database, const Selection& selection, CostColumns by_context,
                         bool merge_recursion, Inlining inlining) {
  CallTree tree;
  tree.database = &database;
  tree.selection = selection;
  tree.is_folded = merge_recursion;
  tree.by_context = std::move(by_context);
  tree.node_of.resize(database.contexts.size());

  FrameTable frames(database);
  NodeIndex index(tree.nodes, inlining);
  for (uint32_t c = 0; c < database.contexts.size(); ++c) {
    const Context& context = database.contexts[c];
    const uint32_t parent = context.parent == kNone ? kNone : tree.node_of[context.parent];
    if (!starts_frame(context)) {
      tree.node_of[c] = parent;
      continue;
    }
    const uint32_t frame = frames.frame_of(c);
    uint32_t node = merge_recursion ? on_path(tree.nodes, parent, frame) : kNone;
    if (node == kNone) node = index.find_or_add(parent, frame, context.relation == Relation::InlinedCall);
    tree.node_of[c] = node;
    tree.starts.push_back(c);
  }
  tree.frames = frames.take();
  CostColumns known;
  if (tree.metrics() > 0) known.push_back(tree.node_costs(0));
  sort_into_preorder(tree, std::move(known));
  tree.totals = totals_of(tree);
  return tree;
}

bool has_no_costs(const CallTree& tree) {
  if (std::ranges::any_of(tree.totals, [](double total) { return total != 0; })) return false;
  // Differences of two profiles may cancel each other out.
  for (uint32_t n = 0; n < tree.nodes.size(); ++n)
    for (size_t m = 0; m < tree.metrics(); ++m)
      if (tree.cost(n, m).exclusive != 0) return false;
  return true;
}

}  // namespace prof
