// Extra-P's JSON lines: the cost of each call path for a number of ranks or threads. Files of several runs
// are concatenated; runs with the same number are repetitions.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/name_paths.h"
#include "prof/export/formats.h"

namespace prof {
namespace {

// Extra-P reads "->" as the step to a callee. In names (operator->) it becomes an arrow character.
std::string without_arrows(std::string name) {
  for (size_t at = 0; (at = name.find("->", at)) != std::string::npos;) name.replace(at, 2, "\u2192");
  return name;
}

class ExtrapWriter {
 public:
  ExtrapWriter(const CallTree& tree, Output& out) : tree_(tree), out_(out), paths_(name_paths(tree)) {}

  void write() {
    count_workers();
    own_ = own_costs_of_paths(tree_, paths_, tree_.selection.profiles);
    inclusive_ = with_callees(paths_, own_, tree_.metrics());
    for (size_t p = 0; p < paths_.paths.size(); ++p) {
      const NamePath& path = paths_.paths[p];
      const std::string name = without_arrows(path.name);
      words_.push_back(path.parent == kNone ? name : words_[path.parent] + "->" + name);
      for (size_t m = 0; m < tree_.metrics(); ++m) {
        write_line(words_.back(), tree_.metric(m).name, own_[p * tree_.metrics() + m]);
        write_line(words_.back(), tree_.metric(m).name + " (inc)", inclusive_[p * tree_.metrics() + m]);
      }
    }
  }

 private:
  // Takes the number of ranks or threads that the run recorded. An imported run recorded neither; its
  // profiles are counted instead.
  void count_workers() {
    const RunSummary run = run_summary(*tree_.database);
    std::set<int32_t> ranks;
    for (const Profile& profile : tree_.database->profiles)
      if (profile.id.rank >= 0) ranks.insert(profile.id.rank);
    const uint64_t ranks_of_run = std::max<uint64_t>(run.ranks, ranks.size());
    workers_ = ranks_of_run > 0  ? ranks_of_run
               : run.threads > 0 ? run.threads
                                 : tree_.database->profiles.size();
    workers_ = std::max<uint64_t>(workers_, 1);
    parameter_ = ranks_of_run > 0 ? "ranks" : "threads";
  }

  void write_line(const std::string& path, const std::string& metric, double value) {
    out_.print("{{\"params\":{{\"{}\":{}}},\"callpath\":", parameter_, workers_);
    write_json_string(out_, path);
    out_.write(",\"metric\":");
    write_json_string(out_, metric);
    out_.write(",\"value\":");
    write_json_number(out_, value / static_cast<double>(workers_));
    out_.write("}\n");
  }

  const CallTree& tree_;
  Output& out_;
  const NamePaths paths_;
  uint64_t workers_ = 1;
  const char* parameter_ = "";
  std::vector<double> own_, inclusive_;  // [path * metrics + m]
  std::vector<std::string> words_;       // per path
};

}  // namespace

void export_extrap(const CallTree& tree, Output& out) {
  ExtrapWriter(tree, out).write();
}

}  // namespace prof
