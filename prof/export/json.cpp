// Everything that an export can contain, as one JSON object; see docs/export.md.

#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/stacks.h"
#include "prof/export/formats.h"
#include "prof/export/json_list.h"
#include "prof/export/trace.h"

namespace prof {
namespace {

class JsonWriter {
 public:
  JsonWriter(const CallTree& tree, Output& out)
      : tree_(tree), database_(*tree.database), out_(out), stacks_(build_stacks(tree)) {}

  void write() {
    out_.write("{\"schema\":\"prof-export/1\"");
    write_run();
    list("metrics", tree_.metrics(), [&](size_t m) {
      out_.write("{\"name\":");
      write_json_string(out_, tree_.metric(m).name);
      out_.write(",\"unit\":");
      write_json_string(out_, tree_.metric(m).unit);
      out_.write(",\"description\":");
      write_json_string(out_, tree_.metric(m).description);
      out_.write("}");
    });
    list("modules", database_.modules.size(),
         [&](size_t i) { write_json_string(out_, database_.modules[i].path); });
    list("files", database_.files.size(),
         [&](size_t i) { write_json_string(out_, database_.files[i].path); });
    list("frames", tree_.frames.size(), [&](size_t i) { write_frame(tree_.frames[i]); });
    list("nodes", stacks_.nodes.size(), [&](size_t i) { write_node(stacks_.nodes[i]); });
    OwnCostsByThread costs(tree_, stacks_.node_of, stacks_.nodes.size());
    const std::vector<uint32_t>& threads = tree_.selection.profiles;
    list("threads", threads.size(), [&](size_t i) { write_thread(threads[i], costs.of(threads[i])); });
    out_.write("}\n");
  }

 private:
  template <typename WriteItem>
  void list(const char* name, size_t count, WriteItem write_item) {
    write_json_list(out_, name, count, "\n", write_item);
  }

  void number_or_null(uint32_t value) {
    if (value == kNone)
      out_.write("null");
    else
      out_.print("{}", value);
  }

  void write_run() {
    const RunSummary run = run_summary(database_);
    out_.write(",\n\"program\":");
    write_json_string(out_, database_.title);
    out_.write(",\n\"command\":");
    write_json_string(out_, run.command);
    out_.write(",\n\"start\":");
    write_json_string(out_, run.start);
    if (run.wall_s) {
      out_.write(",\n\"wall_s\":");
      write_json_number(out_, *run.wall_s);
    }
  }

  void write_frame(const Frame& frame) {
    const SourceLocation location = definition(frame);
    out_.write("{\"function\":");
    write_json_string(out_, frame_name(database_, frame));
    out_.write(",\"file\":");
    number_or_null(location.file);
    out_.print(",\"line\":{},\"module\":", location.line);
    number_or_null(frame.module);
    out_.print(",\"offset\":{}}}", frame.module == kNone ? 0 : frame.offset);
  }

  void write_node(const StackNode& node) {
    const CallNode& call = tree_.nodes[node.call];
    out_.write("[");
    number_or_null(node.parent);
    out_.print(",{},", call.frame);
    number_or_null(node.location.file);
    out_.print(",{},{}]", node.location.line, call.inlined ? 1 : 0);
  }

  void write_thread(uint32_t profile, const OwnCosts& costs) {
    const ProfileId& id = database_.profiles[profile].id;
    out_.write("{\"host\":");
    write_json_string(out_, id.host);
    out_.print(",\"rank\":{},\"process\":{},\"thread\":{},\"name\":", id.rank, id.process, id.thread);
    write_json_string(out_, id.thread_name);
    out_.print(",\"samples\":{},\n\"values\":[", database_.profiles[profile].samples);
    for (size_t i = 0; i < costs.nodes.size(); ++i) {
      out_.print("{}[{}", i == 0 ? "" : ",", costs.nodes[i]);
      for (size_t m = 0; m < tree_.metrics(); ++m) {
        out_.write(",");
        write_json_number(out_, costs.values[i * tree_.metrics() + m]);
      }
      out_.write("]");
    }
    out_.write("]");
    if (has_trace(database_, profile)) write_trace(profile);
    out_.write("}");
  }

  void write_trace(uint32_t profile) {
    out_.write(",\n\"trace\":[");
    uint64_t end_ns = 0;
    bool any = false;
    for_each_stretch(database_, profile, [&](uint64_t begin, uint64_t end, uint32_t context) {
      out_.print("{}[{},", any ? "," : "", begin);
      number_or_null(context == kNone ? kNone : stacks_.node_of[context]);
      out_.write("]");
      any = true;
      end_ns = end;
    });
    out_.print("],\"trace_end\":{}", end_ns);
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  const Stacks stacks_;
};

}  // namespace

void export_json(const CallTree& tree, Output& out) {
  JsonWriter(tree, out).write();
}

}  // namespace prof
