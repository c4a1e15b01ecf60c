// Caliper's native stream, as Hatchet and Thicket read it: a tree of call paths by function names, and a
// record with the costs of each path. If there are several ranks, each rank has a record of its own.

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/views/tree/name_paths.h"
#include "analysis/views/tree/wording.h"
#include "prof/export/formats.h"

namespace prof {
namespace {

// Definitions that every stream has implicitly (CaliperMetadataDB): the types, and the attributes of
// attributes.
constexpr uint32_t kUnsigned = 2, kString = 3, kDouble = 5;
constexpr uint32_t kNameOfAttribute = 8, kProperties = 10;
// Properties of an attribute.
constexpr uint32_t kAsValue = 1, kNested = 256, kGlobal = 512;

// The time metric that Hatchet calls "time", and that Thicket uses.
constexpr const char* kTime = "sum#time.duration";
constexpr const char* kInclusiveTime = "inclusive#sum#time.duration";

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '\\' || c == ',' || c == '=') result += '\\';
    result += c;
  }
  return result;
}

class CaliWriter {
 public:
  CaliWriter(const CallTree& tree, Output& out)
      : tree_(tree), database_(*tree.database), out_(out), paths_(name_paths(tree)) {}

  void write() {
    const uint32_t function = attribute("function", kString, kNested);
    const uint32_t rank = attribute("mpi.rank", kUnsigned, kAsValue);
    const std::vector<std::pair<uint32_t, uint32_t>> metrics = metric_attributes();
    const uint32_t program = attribute("executable", kString, kGlobal | kAsValue);
    const uint32_t size = attribute("mpi.world.size", kUnsigned, kGlobal | kAsValue);

    for (const NamePath& path : paths_.paths) {
      nodes_.push_back(next_);
      out_.print("__rec=node,id={},attr={},data={}", next_++, function, escaped(path.name));
      if (path.parent != kNone) out_.print(",parent={}", nodes_[path.parent]);
      out_.write("\n");
    }
    std::map<int32_t, std::vector<uint32_t>> profiles_of;
    for (const uint32_t profile : tree_.selection.profiles)
      profiles_of[database_.profiles[profile].id.rank].push_back(profile);
    const bool are_ranked = !profiles_of.empty() && profiles_of.begin()->first >= 0;
    for (const auto& [number, profiles] : profiles_of) {
      add_up(profiles);
      if (are_ranked) write_records(metrics, fmt::format("={}", rank), fmt::format("={}", number));
    }
    if (!are_ranked) {
      add_up(tree_.selection.profiles);
      write_records(metrics, "", "");
    }
    out_.print("__rec=globals,attr={}={},data={}={}\n", program, size,
               escaped(database_.title.empty() ? "program" : database_.title),
               are_ranked ? profiles_of.size() : 1);
  }

 private:
  uint32_t attribute(const std::string& name, uint32_t type, uint32_t properties) {
    out_.print("__rec=node,id={},attr={},data={},parent={}\n", next_, kProperties, properties, type);
    out_.print("__rec=node,id={},attr={},data={},parent={}\n", next_ + 1, kNameOfAttribute, escaped(name),
               next_);
    next_ += 2;
    return next_ - 1;
  }

  // Declares an exclusive and an inclusive attribute for each metric.
  std::vector<std::pair<uint32_t, uint32_t>> metric_attributes() {
    std::vector<std::pair<uint32_t, uint32_t>> attributes;
    bool has_time = false;
    for (size_t m = 0; m < tree_.metrics(); ++m) {
      const Metric& metric = tree_.metric(m);
      const bool is_the_time = is_time(metric) && !std::exchange(has_time, has_time || is_time(metric));
      const std::string own = is_the_time ? kTime : metric.name;
      const std::string all = is_the_time ? kInclusiveTime : metric.name + " (inc)";
      const uint32_t exclusive = attribute(own, kDouble, kAsValue);
      attributes.emplace_back(exclusive, attribute(all, kDouble, kAsValue));
    }
    return attributes;
  }

  void add_up(const std::vector<uint32_t>& profiles) {
    own_ = own_costs_of_paths(tree_, paths_, profiles);
    inclusive_ = with_callees(paths_, own_, tree_.metrics());
  }

  void write_records(const std::vector<std::pair<uint32_t, uint32_t>>& metrics, const std::string& more_ids,
                     const std::string& more_values) {
    for (size_t p = 0; p < paths_.paths.size(); ++p) {
      out_.print("__rec=ctx,ref={},attr", nodes_[p]);
      for (const auto& [exclusive, inclusive] : metrics) out_.print("={}={}", exclusive, inclusive);
      out_.print("{},data", more_ids);
      for (size_t m = 0; m < metrics.size(); ++m)
        out_.print("={}={}", own_[p * metrics.size() + m], inclusive_[p * metrics.size() + m]);
      out_.print("{}\n", more_values);
    }
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  const NamePaths paths_;
  uint32_t next_ = 12;           // the next free number of a node
  std::vector<uint32_t> nodes_;  // per path
  std::vector<double> own_, inclusive_;
};

}  // namespace

void export_cali(const CallTree& tree, Output& out) {
  CaliWriter(tree, out).write();
}

}  // namespace prof
