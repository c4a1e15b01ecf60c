// Firefox Profiler's processed profile format, version 60, the first with tables shared by all threads. The
// application converts it to its current version.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/stacks.h"
#include "analysis/views/tree/wording.h"
#include "prof/export/firefox_markers.h"
#include "prof/export/formats.h"
#include "prof/export/times.h"
#include "prof/export/trace.h"

namespace prof {
namespace {

constexpr int kVersion = 60;
constexpr double kDefaultIntervalMs = 1;

class FirefoxWriter {
 public:
  FirefoxWriter(const CallTree& tree, Output& out)
      : tree_(tree),
        database_(*tree.database),
        out_(out),
        stacks_(build_stacks(tree)),
        in_seconds_(tree.metrics() > 0 && is_time(tree.metric(0))) {}

  void write() {
    write_meta();
    write_modules();
    collect_tables();
    write_shared();
    write_threads();
    out_.write("}\n");
  }

 private:
  struct LocatedFrame {
    uint32_t frame, line, inline_depth;
    bool operator<(const LocatedFrame& other) const {
      return std::tie(frame, line, inline_depth) < std::tie(other.frame, other.line, other.inline_depth);
    }
  };

  void write_meta() {
    const RunSummary run = run_summary(database_);
    const Sampling sampling = shown_sampling(tree_, run);
    traced_ = has_trace(tree_);
    start_ns_ = traced_ ? first_time_ns(tree_) : static_cast<uint64_t>(start_ns(run));
    out_.write("{\"meta\":{\"interval\":");
    write_json_number(
        out_, sampling.requested_hz.value_or(0) > 0 ? 1000 / *sampling.requested_hz : kDefaultIntervalMs);
    out_.write(",\"startTime\":");
    write_json_number(out_, static_cast<double>(start_ns_) / 1e6);
    out_.write(",\"processType\":0,\"product\":");
    write_json_string(out_, database_.title);
    out_.write(",\"arguments\":");
    write_json_string(out_, run.command);
    out_.print(
        ",\"stackwalk\":1,\"version\":30,\"preprocessedProfileVersion\":{},\"symbolicated\":true,"
        "\"symbolicationNotSupported\":true,\"importedFrom\":\"prof\",\"oscpu\":\"Linux\",\"platform\":"
        "\"Linux\","
        "\"debug\":false,\"sourceCodeIsNotOnSearchfox\":true,"
        "\"usesOnlyOneStackType\":true,\"doesNotUseFrameImplementation\":true,\"categories\":["
        "{{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}},"
        "{{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]}}],"
        "\"markerSchema\":",
        kVersion);
    FirefoxMarkers::write_schema(out_);
    out_.write("}");
  }

  void write_modules() {
    out_.write(",\n\"libs\":[");
    for (size_t i = 0; i < database_.modules.size(); ++i) {
      const std::string& path = database_.modules[i].path;
      out_.write(i == 0 ? "\n{\"arch\":\"x86_64\",\"breakpadId\":\"\",\"codeId\":null"
                        : ",\n{\"arch\":\"x86_64\",\"breakpadId\":\"\",\"codeId\":null");
      for (const char* key : {"name", "debugName"}) {
        out_.print(",\"{}\":", key);
        write_json_string(out_, base_name(path));
      }
      for (const char* key : {"path", "debugPath"}) {
        out_.print(",\"{}\":", key);
        write_json_string(out_, path);
      }
      out_.write("}");
    }
    out_.write("]");
  }

  uint32_t text(const std::string& content) {
    const auto [at, is_new] = text_numbers_.try_emplace(content, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&at->first);
    return at->second;
  }

  void collect_tables() {
    std::map<LocatedFrame, uint32_t> known;
    std::vector<uint32_t> inline_depth(stacks_.nodes.size());
    for (size_t n = 0; n < stacks_.nodes.size(); ++n) {
      const StackNode& node = stacks_.nodes[n];
      const CallNode& call = tree_.nodes[node.call];
      if (call.inlined && node.parent != kNone) inline_depth[n] = inline_depth[node.parent] + 1;
      const LocatedFrame key{call.frame, node.location.line, inline_depth[n]};
      const auto [at, is_new] = known.try_emplace(key, static_cast<uint32_t>(frames_.size()));
      if (is_new) frames_.push_back(key);
      frame_of_.push_back(at->second);
    }
    for (const Frame& frame : tree_.frames) function_names_.push_back(text(frame_name(database_, frame)));
    for (const LoadModule& module : database_.modules) module_names_.push_back(text(base_name(module.path)));
    for (const SourceFile& file : database_.files) file_names_.push_back(text(file.path));
    markers_.emplace(tree_, start_ns_, [this](const std::string& content) { return text(content); });
  }

  template <typename WriteItem>
  void column(const char* name, size_t count, WriteItem write_item) {
    out_.print("\"{}\":[", name);
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out_.write(",");
      write_item(i);
    }
    out_.write("],");
  }
  void number(uint32_t value, const char* none = "null") {
    if (value == kNone)
      out_.write(none);
    else
      out_.print("{}", value);
  }
  void end_table(size_t length) { out_.print("\"length\":{}}}", length); }

  void write_shared() {
    const auto same = [&](const char* value) { return [this, value](size_t) { out_.write(value); }; };
    out_.write(",\n\"shared\":{\"stackTable\":{");
    column("frame", stacks_.nodes.size(), [&](size_t i) { number(frame_of_[i]); });
    column("prefix", stacks_.nodes.size(), [&](size_t i) { number(stacks_.nodes[i].parent); });
    end_table(stacks_.nodes.size());

    out_.write(",\n\"frameTable\":{");
    column("address", frames_.size(), same("-1"));
    column("inlineDepth", frames_.size(), [&](size_t i) { number(frames_[i].inline_depth); });
    column("category", frames_.size(), same("1"));
    column("subcategory", frames_.size(), same("0"));
    column("func", frames_.size(), [&](size_t i) { number(frames_[i].frame); });
    column("nativeSymbol", frames_.size(), same("null"));
    column("innerWindowID", frames_.size(), same("0"));
    column("line", frames_.size(), [&](size_t i) { number(frames_[i].line ? frames_[i].line : kNone); });
    column("column", frames_.size(), same("null"));
    end_table(frames_.size());

    out_.write(",\n\"funcTable\":{");
    const size_t functions = tree_.frames.size();
    column("name", functions, [&](size_t i) { number(function_names_[i]); });
    column("isJS", functions, same("false"));
    column("relevantForJS", functions, same("false"));
    column("resource", functions, [&](size_t i) { number(tree_.frames[i].module, "-1"); });
    column("source", functions, [&](size_t i) { number(definition(tree_.frames[i]).file); });
    column("lineNumber", functions, [&](size_t i) {
      const SourceLocation location = definition(tree_.frames[i]);
      number(location.known() ? location.line : kNone);
    });
    column("columnNumber", functions, same("null"));
    end_table(functions);

    constexpr const char* kLibrary = "1";  // the type of a resource
    out_.write(",\n\"resourceTable\":{");
    column("type", module_names_.size(), same(kLibrary));
    column("lib", module_names_.size(), [&](size_t i) { out_.print("{}", i); });
    column("name", module_names_.size(), [&](size_t i) { number(module_names_[i]); });
    column("host", module_names_.size(), same("null"));
    end_table(module_names_.size());
    out_.write(
        ",\n\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}");
    out_.write(",\n\"sources\":{");
    column("id", file_names_.size(), same("null"));
    column("filename", file_names_.size(), [&](size_t i) { number(file_names_[i]); });
    end_table(file_names_.size());
    out_.write(",\n\"stringArray\":[");
    for (size_t i = 0; i < texts_.size(); ++i) {
      if (i > 0) out_.write(",\n");
      write_json_string(out_, *texts_[i]);
    }
    out_.write("]}");
  }

  void write_threads() {
    OwnCostsByThread costs(tree_, stacks_.node_of, stacks_.nodes.size());
    SampleWeights weights(tree_, stacks_.node_of, stacks_.nodes.size());
    out_.write(",\n\"threads\":[");
    bool any = false;
    for (const uint32_t profile : tree_.selection.profiles) {
      if (any) out_.write(",");
      any = true;
      write_thread(profile, costs.of(profile), weights);
    }
    out_.write("]");
  }

  void write_thread(uint32_t profile, const OwnCosts& costs, SampleWeights& weights) {
    const ProfileId& id = database_.profiles[profile].id;
    out_.print(
        "\n{{\"processType\":\"default\",\"isMainThread\":{},\"pid\":\"{}\",\"tid\":{},\"processName\":",
        id.thread == 0, std::max(id.process, 0), std::max(id.thread, 0));
    write_json_string(out_, database_.title);
    out_.write(",\"name\":");
    write_json_string(out_, thread_label(database_, profile));
    out_.write(
        ",\"processStartupTime\":0,\"processShutdownTime\":null,\"registerTime\":0,\"unregisterTime\":null,"
        "\"pausedRanges\":[],\"markers\":");
    markers_->write(profile, out_);
    out_.write(",\n\"samples\":{");
    const bool in_bytes = tree_.metrics() > 0 && tree_.metric(0).unit == "bytes";
    out_.print("\"weightType\":\"{}\",", in_seconds_ ? "tracing-ms" : in_bytes ? "bytes" : "samples");
    weights.prepare(profile, costs);
    // Calls visit(stack, time, weight) in the same order each time.
    const auto for_each_sample = [&](auto visit) { each_sample(profile, costs, weights, visit); };
    size_t samples = 0;
    begin_column("stack");
    for_each_sample([&](uint32_t stack, double, double) {
      separate();
      number(stack);
      ++samples;
    });
    begin_column("time");
    for_each_sample([&](uint32_t, double time, double) {
      separate();
      out_.print("{}", time);
    });
    begin_column("weight");
    for_each_sample([&](uint32_t, double, double weight) {
      separate();
      write_json_number(out_, weight);
    });
    out_.print("],\"length\":{}}}}}", samples);
  }

  // Without a trace the costs themselves serve as the clock: one after the other.
  template <typename Visit>
  void each_sample(uint32_t profile, const OwnCosts& costs, const SampleWeights& weights, Visit visit) {
    const double scale = in_seconds_ ? 1e3 : 1;
    const size_t width = tree_.metrics();
    double time = 0;
    if (!has_trace(database_, profile)) {
      for (size_t i = 0; i < costs.nodes.size() && width > 0; ++i) {
        visit(costs.nodes[i], time, costs.values[i * width] * scale);
        time += costs.values[i * width] * scale;
      }
      return;
    }
    for_each_stretch(database_, profile, [&](uint64_t begin, uint64_t end, uint32_t context) {
      const uint32_t node = context == kNone ? kNone : stacks_.node_of[context];
      visit(node, milliseconds(begin), node == kNone || width == 0 ? 0 : weights.of(node, 0) * scale);
      time = milliseconds(end);
    });
    for (const size_t i : weights.untraced())
      visit(costs.nodes[i], time, width > 0 ? costs.values[i * width] * scale : 0);
    visit(kNone, time, 0);
  }

  double milliseconds(uint64_t time_ns) const {
    return static_cast<double>(static_cast<int64_t>(time_ns - start_ns_)) / 1e6;
  }

  void begin_column(const char* name) {
    out_.print("{}\n\"{}\":[", any_column_ ? "]," : "", name);
    any_column_ = std::string_view(name) != "weight";
    any_item_ = false;
  }
  void separate() {
    if (any_item_) out_.write(",");
    any_item_ = true;
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  const Stacks stacks_;
  const bool in_seconds_;
  bool traced_ = false;
  uint64_t start_ns_ = 0;
  std::unordered_map<std::string, uint32_t> text_numbers_;
  std::vector<const std::string*> texts_;
  std::vector<LocatedFrame> frames_;
  std::vector<uint32_t> frame_of_;  // per node of stacks_
  std::vector<uint32_t> function_names_, module_names_, file_names_;
  std::optional<FirefoxMarkers> markers_;
  bool any_column_ = false, any_item_ = false;
};

}  // namespace

void export_firefox(const CallTree& tree, Output& out) {
  FirefoxWriter(tree, out).write();
}

}  // namespace prof
