#include "analysis/views/tree/stacks.h"

#include <tuple>
#include <unordered_map>

namespace prof {
namespace {

struct Key {
  uint32_t parent, call, file, line;
  bool operator==(const Key&) const = default;
};

struct Hash {
  size_t operator()(const Key& key) const {
    uint64_t h = (uint64_t{key.parent} << 32 | key.call) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 29) ^ (uint64_t{key.file} << 32 | key.line)) * 0xBF58476D1CE4E5B9u;
    return h ^ (h >> 32);
  }
};

}  // namespace

Stacks build_stacks(const CallTree& tree) {
  const std::vector<Context>& contexts = tree.database->contexts;
  Stacks stacks;
  stacks.node_of.resize(contexts.size());
  std::unordered_map<Key, uint32_t, Hash> known;
  known.reserve(contexts.size());
  for (uint32_t c = 0; c < contexts.size(); ++c) {
    const Context& context = contexts[c];
    const uint32_t call = tree.node_of[c];
    const uint32_t above = context.parent == kNone ? kNone : stacks.node_of[context.parent];
    SourceLocation location = location_of(context);
    uint32_t parent = above;
    if (!starts_frame(context)) {
      parent = stacks.nodes[above].parent;
      if (!location.known()) location = stacks.nodes[above].location;
    } else if (above != kNone && stacks.nodes[above].call != tree.nodes[call].parent) {
      // A recursive call that was folded into its outermost frame: the part above that frame stays.
      while (parent != kNone && stacks.nodes[parent].call != call) parent = stacks.nodes[parent].parent;
      if (parent != kNone) parent = stacks.nodes[parent].parent;
    }
    const auto [at, is_new] = known.try_emplace({parent, call, location.file, location.line},
                                                static_cast<uint32_t>(stacks.nodes.size()));
    if (is_new) stacks.nodes.push_back({parent, call, location});
    stacks.node_of[c] = at->second;
  }
  return stacks;
}

}  // namespace prof
