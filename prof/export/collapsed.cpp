#include "prof/export/formats.h"

#include <algorithm>
#include <cmath>

#include "analysis/views/tree/wording.h"

namespace prof {
namespace {

std::string collapsed_name(const Database& database, const Frame& frame) {
  std::string name = printable(frame_name(database, frame));
  std::replace(name.begin(), name.end(), ';', ':');
  return name;
}

}  // namespace

void export_collapsed(const CallTree& tree, Output& out) {
  if (tree.metrics() == 0) return;
  const bool in_seconds = is_time(tree.metric(0));
  const double scale = in_seconds ? 1e6 : 1;
  std::vector<std::string> names;
  for (const Frame& frame : tree.frames) names.push_back(collapsed_name(*tree.database, frame));

  std::string path;
  std::vector<size_t> end_of_depth;  // where the path of each depth ends: siblings share the prefix
  for (uint32_t n = 0; n < tree.nodes.size(); ++n) {
    const CallNode& node = tree.nodes[n];
    path.resize(node.depth == 0 ? 0 : end_of_depth[node.depth - 1]);
    if (node.depth > 0) path += ';';
    path += names[node.frame];
    end_of_depth.resize(node.depth);
    end_of_depth.push_back(path.size());
    const long long value = std::llround(tree.cost(n, 0).exclusive * scale);
    if (value > 0) out.print("{} {}\n", path, value);
  }
}

}  // namespace prof
