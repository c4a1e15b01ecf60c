// speedscope's file format, version 0.0.1: profiles of stacks with weights. Each metric is one profile for
// all threads and one for each. A trace adds one more for each thread, whose weights are elapsed time.

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "prof/export/formats.h"
#include "prof/export/quantity.h"
#include "prof/export/trace.h"

namespace prof {
namespace {

// For all threads together: with stacks of a hundred frames about half a gigabyte.
constexpr uint64_t kMaxStretches = 1'000'000;

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const CallTree& tree, Output& out)
      : tree_(tree),
        database_(*tree.database),
        out_(out),
        costs_(tree, tree.node_of, tree.nodes.size()),
        start_ns_(first_time_ns(tree)) {
    for (size_t frame = 0; frame < tree.frames.size(); ++frame) numbers_.push_back(std::to_string(frame));
  }

  void write() {
    out_.write(
        "{\"$schema\":\"https://www.speedscope.app/"
        "file-format-schema.json\",\"exporter\":\"prof\",\n\"name\":");
    write_json_string(out_, database_.title);
    out_.write(",\n\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[");
    for (size_t frame = 0; frame < tree_.frames.size(); ++frame) write_frame(frame);
    out_.write("]},\n\"profiles\":[");
    for (size_t m = 0; m < tree_.metrics(); ++m) {
      const std::vector<uint32_t>& threads = tree_.selection.profiles;
      if (threads.size() != 1) write_costs_of_all(m);
      for (const uint32_t thread : threads) write_costs(m, thread);
    }
    for (const uint32_t thread : tree_.selection.profiles)
      if (has_trace(database_, thread)) write_trace(thread);
    out_.write("]}\n");
  }

 private:
  void write_frame(size_t number) {
    const Frame& frame = tree_.frames[number];
    out_.write(number == 0 ? "\n{\"name\":" : ",\n{\"name\":");
    write_json_string(out_, frame_name(database_, frame));
    const SourceLocation location = definition(frame);
    if (location.file < database_.files.size()) {
      out_.write(",\"file\":");
      write_json_string(out_, database_.files[location.file].path);
      out_.print(",\"line\":{}", location.line);
    }
    out_.write("}");
  }

  void begin_profile(const std::string& name, const char* unit, int64_t end) {
    out_.write(any_profile_ ? ",\n{\"type\":\"sampled\",\"name\":" : "\n{\"type\":\"sampled\",\"name\":");
    any_profile_ = true;
    write_json_string(out_, name);
    out_.print(",\"unit\":\"{}\",\"startValue\":0,\"endValue\":{},\n\"samples\":[", unit, end);
    any_item_ = false;
  }
  void begin_weights() {
    out_.write("],\n\"weights\":[");
    any_item_ = false;
  }
  void separate() {
    if (any_item_) out_.write(",");
    any_item_ = true;
  }

  void write_stack(uint32_t node) {
    separate();
    path_.clear();
    for (; node != kNone; node = tree_.nodes[node].parent) path_.push_back(tree_.nodes[node].frame);
    stack_ = "[";
    for (size_t i = path_.size(); i-- > 0;) {
      stack_ += numbers_[path_[i]];
      stack_ += i > 0 ? "," : "";
    }
    stack_ += ']';
    out_.write(stack_);
  }

  void write_weight(int64_t weight) {
    separate();
    out_.print("{}", weight);
  }

  static const char* unit_name(WholeUnit unit) {
    return std::string_view(unit.name) == "count" ? "none" : unit.name;
  }

  // for_each_cost calls visit(node, cost) with the same costs in the same order each time.
  template <typename ForEachCost>
  void write_sampled(const std::string& name, const char* unit, ForEachCost for_each_cost) {
    int64_t sum = 0;
    for_each_cost([&](uint32_t, int64_t cost) { sum += cost; });
    begin_profile(name, unit, sum);
    for_each_cost([&](uint32_t node, int64_t) { write_stack(node); });
    begin_weights();
    for_each_cost([&](uint32_t, int64_t cost) { write_weight(cost); });
    out_.write("]}");
  }

  void write_costs_of_all(size_t m) {
    const WholeUnit unit = whole_unit(tree_.metric(m));
    write_sampled(tree_.metric(m).name + ", all threads", unit_name(unit), [&](auto visit) {
      for (uint32_t node = 0; node < tree_.nodes.size(); ++node) {
        const int64_t cost = whole(tree_.cost(node, m).exclusive, unit);
        if (cost > 0) visit(node, cost);
      }
    });
  }

  void write_costs(size_t m, uint32_t thread) {
    const WholeUnit unit = whole_unit(tree_.metric(m));
    const OwnCosts& own = costs_.of(thread);
    write_sampled(tree_.metric(m).name + ", " + thread_label(database_, thread), unit_name(unit),
                  [&](auto visit) {
                    for (size_t i = 0; i < own.nodes.size(); ++i) {
                      const int64_t cost = whole(own.values[i * tree_.metrics() + m], unit);
                      if (cost > 0) visit(own.nodes[i], cost);
                    }
                  });
  }

  // Calls visit(node, begin_ns, end_ns). Adjacent stretches with the same call path are merged.
  template <typename Visit>
  void for_each_change(uint32_t thread, Visit visit) {
    uint32_t node = kNone;
    uint64_t since = start_ns_, until = start_ns_;
    for_each_stretch(database_, thread, [&](uint64_t begin, uint64_t end, uint32_t context) {
      const uint32_t next = context == kNone ? kNone : tree_.node_of[context];
      if (next != node) {
        if (begin > since) visit(node, since, begin);
        node = next;
        since = begin;
      }
      until = end;
    });
    if (until > since) visit(node, since, until);
  }

  // Writes a trace. All threads count from the start of the first. A trace with too many stretches is divided
  // into steps, and each step shows its last call path.
  void write_trace(uint32_t thread) {
    uint64_t stretches = 0, end_ns = start_ns_;
    for_each_change(thread, [&](uint32_t, uint64_t, uint64_t end) {
      ++stretches;
      end_ns = end;
    });
    const uint64_t most = std::max<uint64_t>(kMaxStretches / tree_.selection.profiles.size(), 1);
    const uint64_t step_ns = stretches > most ? (end_ns - start_ns_) / most : 0;
    if (step_ns > 0)
      say("speedscope shows {} changes of the call path of thread {} in steps of {:.3g} ms; for \"Left "
          "Heavy\" select a profile of costs, for every change use export --format=perfetto",
          stretches, thread_label(database_, thread), static_cast<double>(step_ns) * 1e-6);
    write_sampled("over time, " + thread_label(database_, thread), "nanoseconds", [&](auto visit) {
      uint64_t since = start_ns_;
      for_each_change(thread, [&](uint32_t node, uint64_t, uint64_t end) {
        if (end - since < step_ns && end != end_ns) return;
        visit(node, static_cast<int64_t>(end - since));
        since = end;
      });
    });
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  OwnCostsByThread costs_;
  const uint64_t start_ns_;
  std::vector<std::string> numbers_;  // of the frames, in digits
  std::vector<uint32_t> path_;
  std::string stack_;
  bool any_profile_ = false, any_item_ = false;
};

}  // namespace

void export_speedscope(const CallTree& tree, Output& out) {
  SpeedscopeWriter(tree, out).write();
}

}  // namespace prof
