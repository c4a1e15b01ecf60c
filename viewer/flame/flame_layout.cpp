#include "viewer/flame/flame_layout.h"

#include <algorithm>

namespace prof::viewer {

namespace {

struct Part {
  uint32_t row;
  double width;
};

class Layout {
 public:
  Layout(Rows& rows, size_t metric, double least) : rows_(rows), metric_(metric), least_(least) {}

  FlameLayout make(uint32_t zoomed) {
    FlameBox all{.end = 1};
    for (const uint32_t row : rows_.roots()) {
      all.weight += rows_.weight(row, metric_);
      all.width += rows_.width(row, metric_);
    }
    if (all.width <= 0) return {};
    at(0).push_back(all);
    if (zoomed == kNone) {
      split(rows_.roots(), 1, all);
    } else {
      std::vector<uint32_t> path;
      for (uint32_t row = zoomed; row != kNone; row = rows_.parent(row)) path.push_back(row);
      std::reverse(path.begin(), path.end());
      for (const uint32_t row : path)
        at(layout_.levels.size())
            .push_back({row, 0, 0, 1, rows_.weight(row, metric_), rows_.width(row, metric_)});
      open_.push_back({layout_.levels.size() - 1, layout_.levels.back().front()});
    }
    while (!open_.empty()) {
      const auto [level, box] = open_.back();
      open_.pop_back();
      split(rows_.children(box.row), level + 1, box);
    }
    for (std::vector<FlameBox>& level : layout_.levels)
      std::sort(level.begin(), level.end(),
                [](const FlameBox& a, const FlameBox& b) { return a.begin < b.begin; });
    return std::move(layout_);
  }

 private:
  std::vector<FlameBox>& at(size_t level) {
    if (layout_.levels.size() <= level) layout_.levels.resize(level + 1);
    return layout_.levels[level];
  }

  // Places rows below a box.
  void split(const std::vector<uint32_t>& rows, size_t level, const FlameBox& box) {
    double all = 0;
    for (const uint32_t row : rows) all += rows_.width(row, metric_);
    if (all <= 0) return;
    // Rounding, and databases of other tools, can make the parts exceed the whole.
    const double scale = (box.end - box.begin) / std::max(box.width, all);
    std::vector<Part> wide;
    FlameBox narrow;
    for (const uint32_t row : rows) {
      const double width = rows_.width(row, metric_);
      if (width <= 0) continue;
      if (width * scale >= least_) {
        wide.push_back({row, width});
      } else {
        ++narrow.merged;
        narrow.weight += rows_.weight(row, metric_);
        narrow.width += width;
      }
    }
    std::stable_sort(wide.begin(), wide.end(),
                     [](const Part& a, const Part& b) { return a.width > b.width; });
    double begin = box.begin;
    for (const Part& part : wide) {
      const FlameBox child{part.row,  0, begin, begin + part.width * scale, rows_.weight(part.row, metric_),
                           part.width};
      begin = child.end;
      at(level).push_back(child);
      open_.push_back({level, child});
    }
    narrow.begin = begin;
    narrow.end = begin + narrow.width * scale;
    if (narrow.merged > 0 && narrow.end - narrow.begin >= least_) at(level).push_back(narrow);
  }

  Rows& rows_;
  const size_t metric_;
  const double least_;
  std::vector<std::pair<size_t, FlameBox>> open_;  // boxes whose children are not placed yet
  FlameLayout layout_;
};

}  // namespace

FlameLayout lay_out_flames(Rows& rows, size_t metric, uint32_t zoomed, double least) {
  return Layout(rows, metric, least).make(zoomed);
}

}  // namespace prof::viewer
