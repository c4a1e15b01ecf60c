// Callgrind's profile format, for KCachegrind and callgrind_annotate. It holds the cost of each line of a
// function, and the cost of each call from each line. Both programs take the sum of the two as the inclusive
// cost. So that recursion counts once, the cost of a call excludes time in which its caller was on the stack
// a second time.

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/stacks.h"
#include "prof/export/formats.h"
#include "prof/export/quantity.h"

namespace prof {
namespace {

// Costs of a line of a function, or of the calls of another function from there.
struct Entry {
  uint32_t frame;
  uint32_t callee;  // a frame; kNone: the line itself
  SourceLocation location;
  uint32_t node;  // of the stacks, with these costs

  auto key() const { return std::tie(frame, callee, location.file, location.line); }
};

class CallgrindWriter {
 public:
  CallgrindWriter(const CallTree& tree, Output& out)
      : tree_(tree),
        database_(*tree.database),
        out_(out),
        width_(tree.metrics()),
        stacks_(build_stacks(tree)),
        own_(stacks_.nodes.size() * width_) {
    for (size_t m = 0; m < width_; ++m) units_.push_back(whole_unit(tree.metric(m)));
  }

  void write() {
    add_costs();
    std::vector<Entry> entries = list_entries();
    find_files(entries);
    write_header();
    write_threads();
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.key() < b.key(); });
    for (size_t i = 0; i < entries.size();) {
      size_t end = i;
      while (end < entries.size() && entries[end].frame == entries[i].frame) ++end;
      write_function(&entries[i], &entries[0] + end);
      i = end;
    }
  }

 private:
  uint32_t frame_of(uint32_t node) const { return tree_.nodes[stacks_.nodes[node].call].frame; }

  // Adds whole units for each thread, so that all sums are exact.
  void add_costs() {
    OwnCostsByThread costs(tree_, stacks_.node_of, stacks_.nodes.size());
    for (const uint32_t thread : tree_.selection.profiles) {
      const OwnCosts& own = costs.of(thread);
      std::vector<int64_t> total(width_);
      // By entry point. A thread usually has one.
      std::vector<std::pair<uint32_t, std::vector<int64_t>>> roots;
      for (size_t i = 0; i < own.nodes.size(); ++i) {
        uint32_t root = own.nodes[i];
        while (stacks_.nodes[root].parent != kNone) root = stacks_.nodes[root].parent;
        auto at = std::find_if(roots.begin(), roots.end(),
                               [&](const auto& r) { return r.first == frame_of(root); });
        if (at == roots.end()) at = roots.insert(at, {frame_of(root), std::vector<int64_t>(width_)});
        for (size_t m = 0; m < width_; ++m) {
          const int64_t cost = whole(own.values[i * width_ + m], units_[m]);
          own_[own.nodes[i] * width_ + m] += cost;
          at->second[m] += cost;
        }
      }
      threads_.push_back(std::move(roots));
    }
    inclusive_ = own_;
    for (size_t n = stacks_.nodes.size(); n-- > 0;) add_to_parent(n);
    calls_ = inclusive_;
    for (uint32_t n = 0; n < stacks_.nodes.size(); ++n) subtract_recursion(n);
  }

  void add_to_parent(size_t n) {
    const uint32_t parent = stacks_.nodes[n].parent;
    if (parent == kNone) return;
    for (size_t m = 0; m < width_; ++m) inclusive_[parent * width_ + m] += inclusive_[n * width_ + m];
  }

  // Subtracts the cost below a function that is on the stack a second time: it belongs to that second
  // occurrence.
  void subtract_recursion(uint32_t n) {
    uint32_t call = n;
    for (uint32_t above = stacks_.nodes[n].parent; above != kNone; above = stacks_.nodes[above].parent) {
      if (frame_of(above) == frame_of(n)) {
        for (size_t m = 0; m < width_; ++m) calls_[call * width_ + m] -= inclusive_[n * width_ + m];
        return;
      }
      call = above;
    }
  }

  std::vector<Entry> list_entries() const {
    std::vector<Entry> entries;
    for (uint32_t n = 0; n < stacks_.nodes.size(); ++n) {
      const StackNode& node = stacks_.nodes[n];
      if (spent(own_, n)) entries.push_back({frame_of(n), kNone, node.location, n});
      if (node.parent != kNone && spent(inclusive_, n))
        entries.push_back({frame_of(node.parent), frame_of(n), stacks_.nodes[node.parent].location, n});
    }
    return entries;
  }

  // Readers identify a function by its file, too. A function without a known definition is in the file of its
  // lines.
  void find_files(const std::vector<Entry>& entries) {
    for (const Frame& frame : tree_.frames) locations_.push_back(definition(frame));
    for (const Entry& entry : entries)
      if (!locations_[entry.frame].known()) locations_[entry.frame].file = entry.location.file;
  }

  bool spent(const std::vector<int64_t>& costs, uint32_t node) const {
    return std::any_of(&costs[node * width_], &costs[node * width_] + width_,
                       [](int64_t cost) { return cost != 0; });
  }

  void write_header() {
    out_.print("# callgrind format\nversion: 1\ncreator: prof\ncmd: {}\npositions: line\n",
               printable(run_summary(database_).command));
    std::string names;
    for (size_t m = 0; m < width_; ++m) {
      std::string name = printable(tree_.metric(m).name);
      std::replace(name.begin(), name.end(), ' ', '_');
      out_.print("event: {} : {} ({})\n", name, printable(tree_.metric(m).name), units_[m].name);
      names += " " + name;
    }
    out_.print("events:{}\nsummary:", names);
    std::vector<int64_t> totals(width_);
    for (size_t n = 0; n < stacks_.nodes.size(); ++n)
      for (size_t m = 0; m < width_; ++m) totals[m] += own_[n * width_ + m];
    write_costs(totals.data());
  }

  void write_costs(const int64_t* costs) {
    for (size_t m = 0; m < width_; ++m) out_.print(" {}", costs[m]);
    out_.write("\n");
  }

  // After its first use a name is written as a number.
  void write_name(const char* keyword, std::unordered_set<uint64_t>& known, uint64_t number,
                  const std::string& name) {
    if (known.insert(number).second)
      out_.print("{}=({}) {}\n", keyword, number, printable(name));
    else
      out_.print("{}=({})\n", keyword, number);
  }

  void write_file(const char* keyword, uint32_t file) {
    const bool known = file < database_.files.size();
    write_name(keyword, files_, known ? file + 2 : 1, known ? database_.files[file].path : "???");
  }

  void write_function_name(const char* object, const char* file, const char* name, uint32_t number) {
    const Frame& frame = tree_.frames[number];
    const bool known = frame.module < database_.modules.size();
    write_name(object, objects_, known ? frame.module + 2 : 1,
               known ? database_.modules[frame.module].path : "???");
    write_file(file, locations_[number].file);
    write_name(name, functions_, number + 1, frame_name(database_, frame));
  }

  // Writes each thread as a function that only calls its entry points.
  void write_threads() {
    for (size_t t = 0; t < threads_.size(); ++t) {
      write_name("ob", objects_, 1, "???");
      write_file("fl", kNone);
      write_name("fn", functions_, tree_.frames.size() + 1 + t,
                 "thread " + thread_label(database_, tree_.selection.profiles[t]));
      for (const auto& [root, costs] : threads_[t]) {
        write_function_name("cob", "cfi", "cfn", root);
        out_.write("calls=1 0\n0");
        write_costs(costs.data());
      }
      out_.write("\n");
    }
  }

  void write_function(const Entry* begin, const Entry* end) {
    write_function_name("ob", "fl", "fn", begin->frame);
    const SourceLocation defined = locations_[begin->frame];
    uint32_t file = defined.file;
    std::vector<int64_t> sum(width_);
    while (begin != end) {
      const Entry* next = begin;
      std::fill(sum.begin(), sum.end(), 0);
      const std::vector<int64_t>& costs = begin->callee == kNone ? own_ : calls_;
      for (; next != end && next->key() == begin->key(); ++next)
        for (size_t m = 0; m < width_; ++m) sum[m] += costs[next->node * width_ + m];
      const SourceLocation location = begin->location.known() ? begin->location : defined;
      if (location.file != file) write_file("fi", file = location.file);
      if (begin->callee != kNone) {
        write_function_name("cob", "cfi", "cfn", begin->callee);
        out_.print("calls=1 {}\n", locations_[begin->callee].line);
      }
      out_.print("{}", location.line);
      write_costs(sum.data());
      begin = next;
    }
    out_.write("\n");
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  const size_t width_;
  const Stacks stacks_;
  std::vector<WholeUnit> units_;
  // [node * width + metric]: of the node itself, of the node with its descendants, and the latter without
  // recursion of the caller.
  std::vector<int64_t> own_, inclusive_, calls_;
  std::vector<std::vector<std::pair<uint32_t, std::vector<int64_t>>>> threads_;  // costs by entry point
  std::vector<SourceLocation> locations_;                                        // of the functions, by frame
  std::unordered_set<uint64_t> objects_, files_, functions_;  // numbers of the names that are written
};

}  // namespace

void export_callgrind(const CallTree& tree, Output& out) {
  CallgrindWriter(tree, out).write();
}

}  // namespace prof
