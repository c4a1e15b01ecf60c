// pprof's profile.proto. A message with a repeated field may be written in consecutive pieces, so the whole
// profile is never in memory.

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/database/utf8.h"
#include "analysis/pprof/profile.pb.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/stacks.h"
#include "prof/export/formats.h"
#include "prof/export/gzip.h"
#include "prof/export/quantity.h"
#include "prof/export/times.h"

namespace prof {
namespace {

namespace profiles = perftools::profiles;

constexpr int kSamplesInPiece = 1000;

class PprofWriter {
 public:
  PprofWriter(const CallTree& tree, Output& out)
      : tree_(tree), database_(*tree.database), gzip_(out), stacks_(build_stacks(tree)) {
    text("");
  }

  void write() {
    write_types();
    write_run();
    write_mappings();
    find_locations();
    OwnCostsByThread costs(tree_, stacks_.node_of, stacks_.nodes.size());
    for (const uint32_t profile : tree_.selection.profiles) write_thread(profile, costs.of(profile));
    write_piece();
    gzip_.finish();
  }

 private:
  void write_piece() {
    piece_.SerializeToString(&bytes_);
    gzip_.write(bytes_);
    piece_.Clear();
  }

  int64_t text(const std::string& content) {
    const auto [at, is_new] = texts_.try_emplace(content, static_cast<int64_t>(texts_.size()));
    if (is_new) piece_.add_string_table(valid_utf8(content));
    return at->second;
  }

  void write_types() {
    for (size_t m = 0; m < tree_.metrics(); ++m) {
      units_.push_back(whole_unit(tree_.metric(m)));
      profiles::ValueType* type = piece_.add_sample_type();
      type->set_type(text(tree_.metric(m).name));
      type->set_unit(text(units_[m].name));
    }
    if (tree_.metrics() > 0) piece_.set_default_sample_type(text(tree_.metric(0).name));
  }

  void write_run() {
    const RunSummary run = run_summary(database_);
    piece_.add_comment(text(run.command));
    piece_.set_time_nanos(start_ns(run));
    if (run.wall_s) piece_.set_duration_nanos(whole(*run.wall_s, {1e9, ""}));
    const Sampling sampling = shown_sampling(tree_, run);
    if (!sampling.requested_hz || !is_time(tree_.metric(0))) return;
    piece_.mutable_period_type()->set_type(text(tree_.metric(0).name));
    piece_.mutable_period_type()->set_unit(text(units_[0].name));
    piece_.set_period(whole(1 / *sampling.requested_hz, units_[0]));
  }

  // Everything is resolved already, so pprof need not read the files.
  void write_mapping(uint32_t module) {
    profiles::Mapping* mapping = piece_.add_mapping();
    mapping->set_id(module + 1);
    mapping->set_filename(text(database_.modules[module].path));
    mapping->set_has_functions(true);
    mapping->set_has_filenames(true);
    mapping->set_has_line_numbers(true);
    mapping->set_has_inline_frames(true);
  }

  // The program is the first mapping.
  void write_mappings() {
    uint32_t program = 0;
    while (program < database_.modules.size() &&
           base_name(database_.modules[program].path) != database_.title)
      ++program;
    if (program < database_.modules.size()) write_mapping(program);
    for (uint32_t module = 0; module < database_.modules.size(); ++module)
      if (module != program) write_mapping(module);
  }

  bool inlined(uint32_t node) const {
    return tree_.nodes[stacks_.nodes[node].call].inlined && stacks_.nodes[node].parent != kNone;
  }

  // Finds locations. A location is a function with the calls that are inlined at one place in it; each node
  // is the innermost call of one location.
  void find_locations() {
    // The location it is inlined in, the frame, and the line with its file.
    using Key = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t>;
    std::map<Key, uint64_t> known;
    location_of_.resize(stacks_.nodes.size());
    for (uint32_t n = 0; n < stacks_.nodes.size(); ++n) {
      const StackNode& node = stacks_.nodes[n];
      const uint64_t outer = inlined(n) ? location_of_[node.parent] : 0;
      const Key key{outer, tree_.nodes[node.call].frame, node.location.file, node.location.line};
      location_of_[n] = known.try_emplace(key, known.size() + 1).first->second;
    }
    location_written_.resize(known.size() + 1);
  }

  // Lines of a function belong to the function's file. A function with lines in several files is written as
  // several functions.
  uint64_t function(const Frame& frame, uint32_t frame_number, const SourceLocation& location) {
    const SourceLocation defined = definition(frame);
    const uint32_t file = location.known() ? location.file : defined.file;
    const auto [at, is_new] =
        functions_.try_emplace(uint64_t{frame_number} << 32 | file, functions_.size() + 1);
    if (!is_new) return at->second;
    profiles::Function* written = piece_.add_function();
    written->set_id(at->second);
    const int64_t name = text(frame_name(database_, frame));
    written->set_name(name);
    written->set_system_name(name);
    if (file < database_.files.size()) written->set_filename(text(database_.files[file].path));
    if (file == defined.file) written->set_start_line(defined.line);
    return at->second;
  }

  void write_location(uint32_t node) {
    profiles::Location* location = piece_.add_location();
    location->set_id(location_of_[node]);
    for (;; node = stacks_.nodes[node].parent) {
      const uint32_t frame_number = tree_.nodes[stacks_.nodes[node].call].frame;
      const Frame& frame = tree_.frames[frame_number];
      const SourceLocation& source = stacks_.nodes[node].location;
      profiles::Line* line = location->add_line();
      line->set_function_id(function(frame, frame_number, source));
      line->set_line(source.known() ? source.line : definition(frame).line);
      if (inlined(node)) continue;
      if (frame.module < database_.modules.size()) {
        location->set_mapping_id(frame.module + 1);
        location->set_address(frame.offset);
      }
      return;
    }
  }

  void add_locations(uint32_t node, profiles::Sample& sample) {
    while (node != kNone) {
      const uint64_t location = location_of_[node];
      if (!location_written_[location]) write_location(node);
      location_written_[location] = true;
      sample.add_location_id(location);
      while (inlined(node)) node = stacks_.nodes[node].parent;
      node = stacks_.nodes[node].parent;
    }
  }

  void add_label(profiles::Sample& sample, const char* key, const std::string& value) {
    profiles::Label* label = sample.add_label();
    label->set_key(text(key));
    label->set_str(text(value));
  }

  void write_thread(uint32_t profile, const OwnCosts& costs) {
    const ProfileId& id = database_.profiles[profile].id;
    const std::string name = thread_label(database_, profile);
    for (size_t i = 0; i < costs.nodes.size(); ++i) {
      profiles::Sample* sample = piece_.add_sample();
      add_locations(costs.nodes[i], *sample);
      for (size_t m = 0; m < tree_.metrics(); ++m)
        sample->add_value(whole(costs.values[i * tree_.metrics() + m], units_[m]));
      add_label(*sample, "thread", name);
      if (id.process >= 0) add_label(*sample, "process", std::to_string(id.process));
      if (id.rank >= 0) add_label(*sample, "rank", std::to_string(id.rank));
      if (!id.host.empty()) add_label(*sample, "host", id.host);
      if (piece_.sample_size() == kSamplesInPiece) write_piece();
    }
  }

  const CallTree& tree_;
  const Database& database_;
  GzipOutput gzip_;
  const Stacks stacks_;
  std::vector<WholeUnit> units_;
  profiles::Profile piece_;
  std::string bytes_;
  std::unordered_map<std::string, int64_t> texts_;
  std::unordered_map<uint64_t, uint64_t> functions_;  // by number of the frame, then of the file
  std::vector<uint64_t> location_of_;                 // per node of stacks_
  std::vector<bool> location_written_;
};

}  // namespace

void export_pprof(const CallTree& tree, Output& out) {
  PprofWriter(tree, out).write();
}

}  // namespace prof
