// One line for each call path of each thread, with the exclusive costs: for data frames.

#include <cmath>
#include <string>
#include <vector>

#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/stacks.h"
#include "prof/export/formats.h"

namespace prof {
namespace {

class CsvWriter {
 public:
  CsvWriter(const CallTree& tree, Output& out)
      : tree_(tree), database_(*tree.database), out_(out), stacks_(build_stacks(tree)) {
    for (const Frame& frame : tree.frames) names_.push_back(frame_name(database_, frame));
  }

  void write() {
    out_.write("host,rank,process,thread,name,depth,function,file,line,module,offset,inlined,stack");
    for (size_t m = 0; m < tree_.metrics(); ++m) {
      const Metric& metric = tree_.metric(m);
      const std::string unit = metric.unit.empty() ? "" : " (" + metric.unit + ")";
      out_.print(",{}", csv_field(metric.name + unit));
    }
    out_.write("\n");
    OwnCostsByThread costs(tree_, stacks_.node_of, stacks_.nodes.size());
    for (const uint32_t thread : tree_.selection.profiles) {
      const OwnCosts& own = costs.of(thread);
      const std::string id = format_id(database_.profiles[thread].id);
      for (size_t i = 0; i < own.nodes.size(); ++i) {
        out_.write(id);
        write_location(own.nodes[i]);
        out_.print(",{}", csv_field(path(own.nodes[i])));
        for (size_t m = 0; m < tree_.metrics(); ++m) {
          const double value = own.values[i * tree_.metrics() + m];
          out_.print(",{}", std::isfinite(value) ? value : 0);
        }
        out_.write("\n");
      }
    }
  }

 private:
  static std::string number(int32_t value) { return value < 0 ? "" : std::to_string(value); }
  static std::string format_id(const ProfileId& id) {
    return fmt::format("{},{},{},{},{}", csv_field(id.host), number(id.rank), number(id.process),
                       number(id.thread), csv_field(id.thread_name));
  }

  void write_location(uint32_t node) {
    const CallNode& call = tree_.nodes[stacks_.nodes[node].call];
    const Frame& frame = tree_.frames[call.frame];
    const SourceLocation location =
        stacks_.nodes[node].location.known() ? stacks_.nodes[node].location : definition(frame);
    out_.print(",{},{},", call.depth, csv_field(names_[call.frame]));
    if (location.file < database_.files.size())
      out_.print("{},{},", csv_field(database_.files[location.file].path), location.line);
    else
      out_.write(",,");
    if (frame.module < database_.modules.size())
      out_.print("{},{:#x}", csv_field(database_.modules[frame.module].path), frame.offset);
    else
      out_.write(",");
    out_.print(",{}", call.inlined ? "true" : "false");
  }

  // Returns the functions, outermost first, as in collapsed stacks.
  const std::string& path(uint32_t node) {
    frames_.clear();
    for (uint32_t call = stacks_.nodes[node].call; call != kNone; call = tree_.nodes[call].parent)
      frames_.push_back(tree_.nodes[call].frame);
    path_.clear();
    for (size_t i = frames_.size(); i-- > 0;) {
      path_ += names_[frames_[i]];
      path_ += i > 0 ? ";" : "";
    }
    return path_;
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  const Stacks stacks_;
  std::vector<std::string> names_;  // of the frames
  std::vector<uint32_t> frames_;
  std::string path_;
};

}  // namespace

void export_csv(const CallTree& tree, Output& out) {
  CsvWriter(tree, out).write();
}

}  // namespace prof
