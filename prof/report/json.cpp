// The table views as JSON (docs/json.md). Rows are streamed: a report can have a million of them.

#include "prof/report/renderers.h"

namespace prof {
namespace {

void write_location(const CallTree& tree, const Row& row, Output& out) {
  const Database& database = *tree.database;
  const bool has_file = row.location.file < database.files.size();
  out.write(",\"file\":");
  if (has_file)
    write_json_string(out, database.files[row.location.file].path);
  else
    out.write("null");
  out.write(",\"line\":");
  if (has_file && row.location.line > 0)
    out.print("{}", row.location.line);
  else
    out.write("null");
  const Frame& frame = tree.frames[row.frame];
  if (frame.module < database.modules.size()) {
    out.write(",\"module\":");
    write_json_string(out, database.modules[frame.module].path);
    out.print(",\"offset\":{}", frame.offset);
  } else {
    out.write(",\"module\":null,\"offset\":null");
  }
}

void write_spread(const char* name, const Spread& spread, Output& out) {
  out.print(",\"{}\":{{\"sum\":", name);
  write_json_number(out, spread.sum);
  out.write(",\"min\":");
  write_json_number(out, spread.minimum);
  out.write(",\"mean\":");
  write_json_number(out, spread.mean());
  out.write(",\"max\":");
  write_json_number(out, spread.maximum);
  out.write(",\"stddev\":");
  write_json_number(out, spread.stddev());
  out.write("}");
}

void write_values(const CallTree& tree, const View& view, size_t row, Output& out) {
  out.write(",\"values\":{");
  for (size_t m = 0; m < tree.metrics(); ++m) {
    const size_t at = row * tree.metrics() + m;
    if (m > 0) out.write(",");
    write_json_string(out, tree.metric(m).name);
    out.write(":{\"inclusive\":");
    write_json_number(out, view.costs[at].inclusive);
    out.write(",\"exclusive\":");
    write_json_number(out, view.costs[at].exclusive);
    out.print(",\"threads\":{{\"count\":{}", view.threads[at].inclusive.count);
    write_spread("inclusive", view.threads[at].inclusive, out);
    write_spread("exclusive", view.threads[at].exclusive, out);
    out.write("}}");
  }
  out.write("}");
}

void write_row(const CallTree& tree, const View& view, size_t r, Output& out) {
  const Row& row = view.rows[r];
  out.print("{{\"id\":{},\"parent\":", r);
  if (row.parent == kNone)
    out.write("null");
  else
    out.print("{}", row.parent);
  out.print(",\"depth\":{},\"function\":", row.depth);
  write_json_string(out, frame_name(*tree.database, tree.frames[row.frame]));
  write_location(tree, row, out);
  out.print(",\"inlined\":{}", row.inlined);
  write_values(tree, view, r, out);
  out.write("}");
}

}  // namespace

void tree_as_json(const CallTree& tree, const View& view, const ReportOptions& options, Output& out) {
  out.print("{{\"schema\":\"prof-report/1\",\n\"view\":\"{}\",\n\"database\":", view_name(options.view));
  write_json_string(out, options.database);
  out.write(",\n\"units\":{");
  for (size_t m = 0; m < tree.metrics(); ++m) {
    if (m > 0) out.write(",");
    write_json_string(out, tree.metric(m).name);
    out.write(":");
    write_json_string(out, tree.metric(m).unit);
  }
  out.write("},\n\"totals\":{");
  for (size_t m = 0; m < tree.metrics(); ++m) {
    if (m > 0) out.write(",");
    write_json_string(out, tree.metric(m).name);
    out.write(":");
    write_json_number(out, tree.totals[m]);
  }
  out.write("},\n\"threshold_percent\":");
  write_json_number(out, options.threshold_percent);
  out.write(",\n\"rows\":[");
  for (size_t r = 0; r < view.rows.size(); ++r) {
    out.write(r == 0 ? "\n" : ",\n");
    write_row(tree, view, r, out);
  }
  out.write(view.rows.empty() ? "]}\n" : "\n]}\n");
}

}  // namespace prof
