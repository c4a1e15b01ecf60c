// A flame graph as a self-contained page: flame_graph.html with the profile inserted.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/wording.h"
#include "prof/export/flame_graph.h"
#include "prof/export/formats.h"
#include "prof/export/json_list.h"

namespace prof {
namespace {

constexpr std::string_view kTitle = "@TITLE@", kData = "@DATA@";

std::string as_html(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '<')
      result += "&lt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

class HtmlWriter {
 public:
  HtmlWriter(const CallTree& tree, Output& out) : tree_(tree), database_(*tree.database), out_(out) {}

  void write() {
    std::string_view page = flame_graph_page();
    for (;;) {
      const size_t at = std::min(page.find(kTitle), page.find(kData));
      out_.write(page.substr(0, at));
      if (at == page.npos) return;
      page.remove_prefix(at);
      if (page.starts_with(kTitle)) {
        out_.write(as_html("Flame graph of " + database_.title));
        page.remove_prefix(kTitle.size());
      } else {
        write_data();
        page.remove_prefix(kData.size());
      }
    }
  }

 private:
  void write_data() {
    const RunSummary run = run_summary(database_);
    out_.write("{\"command\":");
    write_script_string(out_, run.command);
    out_.write(",\"start\":");
    write_script_string(out_, run.start);
    out_.write(",\"host\":");
    write_script_string(out_, run.host);
    list("metrics", tree_.metrics(), [&](size_t m) {
      out_.write("{\"name\":");
      write_script_string(out_, tree_.metric(m).name);
      out_.write(",\"unit\":");
      write_script_string(out_, is_time(tree_.metric(m)) ? "sec" : tree_.metric(m).unit);
      out_.write("}");
    });
    const std::vector<uint32_t>& threads = tree_.selection.profiles;
    list("threads", threads.size(),
         [&](size_t i) { write_script_string(out_, thread_label(database_, threads[i])); });
    list("frames", tree_.frames.size(), [&](size_t i) { write_frame(tree_.frames[i]); });
    list("parent", tree_.nodes.size(), [&](size_t n) {
      out_.print("{}", tree_.nodes[n].parent == kNone ? -1 : int64_t{tree_.nodes[n].parent});
    });
    list("frame", tree_.nodes.size(), [&](size_t n) { out_.print("{}", tree_.nodes[n].frame); });
    std::vector<size_t> inlined;
    for (size_t n = 0; n < tree_.nodes.size(); ++n)
      if (tree_.nodes[n].inlined) inlined.push_back(n);
    list("inlined", inlined.size(), [&](size_t i) { out_.print("{}", inlined[i]); });
    OwnCostsByThread costs(tree_, tree_.node_of, tree_.nodes.size());
    list("costs", threads.size(), [&](size_t i) { write_costs(costs.of(threads[i])); });
    out_.write("}");
  }

  template <typename WriteItem>
  void list(const char* name, size_t count, WriteItem write_item) {
    write_json_list(out_, name, count, "", write_item);
  }

  // Writes name, file, line and module; empty or 0 if not known.
  void write_frame(const Frame& frame) {
    out_.write("\n[");
    write_script_string(out_, frame_name(database_, frame));
    const SourceLocation location = definition(frame);
    out_.write(",");
    write_script_string(out_,
                        location.file < database_.files.size() ? database_.files[location.file].path : "");
    out_.print(",{},", location.known() ? location.line : 0);
    write_script_string(out_,
                        frame.module < database_.modules.size() ? database_.modules[frame.module].path : "");
    out_.write("]");
  }

  void write_costs(const OwnCosts& costs) {
    out_.write("{\"nodes\":[");
    for (size_t i = 0; i < costs.nodes.size(); ++i) out_.print("{}{}", i > 0 ? "," : "", costs.nodes[i]);
    out_.write("],\"values\":[");
    for (size_t m = 0; m < tree_.metrics(); ++m) {
      out_.write(m > 0 ? ",[" : "[");
      for (size_t i = 0; i < costs.nodes.size(); ++i) {
        if (i > 0) out_.write(",");
        write_json_number(out_, costs.values[i * tree_.metrics() + m]);
      }
      out_.write("]");
    }
    out_.write("]}");
  }

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
};

}  // namespace

void export_html(const CallTree& tree, Output& out) {
  HtmlWriter(tree, out).write();
}

}  // namespace prof
