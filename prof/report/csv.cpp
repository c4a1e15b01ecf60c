// CSV with the quoting of RFC 4180. Lines end in a line feed alone, as other Unix tools expect.

#include <cmath>

#include "prof/report/renderers.h"

namespace prof {
namespace {

double finite(double value) {
  return std::isfinite(value) ? value : 0;
}

void write_header(const CallTree& tree, const ReportOptions& options, Output& out) {
  out.write("id,parent,depth,function,file,line,module,offset,inlined");
  for (size_t m = 0; m < tree.metrics(); ++m) {
    const Metric& metric = tree.metric(m);
    const std::string unit = metric.unit.empty() ? "" : fmt::format(" ({})", metric.unit);
    for (const char* scope : {"inclusive", "exclusive"}) {
      out.print(",{}", csv_field(fmt::format("{} {}{}", metric.name, scope, unit)));
      if (!options.statistics) continue;
      for (const char* statistic : {"min", "mean", "max", "stddev"})
        out.print(",{}", csv_field(fmt::format("{} {} {}{}", metric.name, scope, statistic, unit)));
    }
    if (options.statistics) out.print(",{}", csv_field(metric.name + " threads"));
  }
  out.write("\n");
}

void write_spread(const Spread& spread, Output& out) {
  out.print(",{},{},{},{}", finite(spread.minimum), finite(spread.mean()), finite(spread.maximum),
            finite(spread.stddev()));
}

}  // namespace

void tree_as_csv(const CallTree& tree, const View& view, const ReportOptions& options, Output& out) {
  const Database& database = *tree.database;
  write_header(tree, options, out);
  for (size_t r = 0; r < view.rows.size(); ++r) {
    const Row& row = view.rows[r];
    const Frame& frame = tree.frames[row.frame];
    out.print("{},", r);
    if (row.parent != kNone) out.print("{}", row.parent);
    out.print(",{},{},", row.depth, csv_field(frame_name(database, frame)));
    if (row.location.file < database.files.size()) {
      out.write(csv_field(database.files[row.location.file].path));
      out.write(",");
      if (row.location.line > 0) out.print("{}", row.location.line);
    } else {
      out.write(",");
    }
    out.write(",");
    if (frame.module < database.modules.size())
      out.print("{},{:#x}", csv_field(database.modules[frame.module].path), frame.offset);
    else
      out.write(",");
    out.print(",{}", row.inlined ? "true" : "false");
    for (size_t m = 0; m < tree.metrics(); ++m) {
      const size_t at = r * tree.metrics() + m;
      out.print(",{}", finite(view.costs[at].inclusive));
      if (options.statistics) write_spread(view.threads[at].inclusive, out);
      out.print(",{}", finite(view.costs[at].exclusive));
      if (options.statistics) {
        write_spread(view.threads[at].exclusive, out);
        out.print(",{}", view.threads[at].inclusive.count);
      }
    }
    out.write("\n");
  }
}

void summary_as_csv(const CallTree& tree, const SummaryReport& summary, Output& out) {
  const RunSummary& run = summary.run;
  out.write("section,name,value,unit\n");
  const auto line = [&](const char* section, const std::string& name, const std::string& value,
                        const char* unit) {
    out.print("{},{},{},{}\n", section, csv_field(name), csv_field(value), unit);
  };
  const auto optional = [&](const char* section, const char* name, std::optional<double> value,
                            const char* unit) {
    if (value) line(section, name, fmt::format("{}", finite(*value)), unit);
  };
  line("run", "command", run.command, "");
  if (!run.host.empty()) line("run", "host", run.host, "");
  if (!run.start.empty()) line("run", "start", run.start, "");
  optional("run", "wall", run.wall_s, "sec");
  optional("run", "cpu", run.cpu_s, "sec");
  if (run.exit_status) line("run", "exit_status", fmt::format("{}", *run.exit_status), "");
  if (run.signal) line("run", "signal", fmt::format("{}", *run.signal), "");
  line("run", "processes", fmt::format("{}", run.processes), "");
  line("run", "threads", fmt::format("{}", run.threads), "");
  line("run", "ranks", fmt::format("{}", run.ranks), "");
  for (size_t m = 0; m < tree.metrics(); ++m)
    line("total", tree.metric(m).name, fmt::format("{}", finite(tree.totals[m])),
         tree.metric(m).unit.c_str());
  if (!run.sampling.source.empty()) line("sampling", "source", run.sampling.source, "");
  optional("sampling", "requested", run.sampling.requested_hz, "Hz");
  optional("sampling", "delivered", run.sampling.delivered_hz, "Hz");
  if (run.sampling.samples) line("sampling", "samples", fmt::format("{}", *run.sampling.samples), "");
  for (const auto& [reason, count] : run.dropped) line("dropped", reason, fmt::format("{}", count), "");
  if (run.stacks) {
    line("stacks", "complete", fmt::format("{}", run.stacks->complete), "");
    line("stacks", "partial", fmt::format("{}", run.stacks->partial), "");
    line("stacks", "broken", fmt::format("{}", run.stacks->broken), "");
    for (const auto& [reason, count] : run.stacks->reasons)
      line("stack reason", reason, fmt::format("{}", count), "");
  }
  optional("overhead", "cpu", run.overhead_cpu_s, "sec");
  if (run.runtime_bytes) line("overhead", "memory", fmt::format("{}", *run.runtime_bytes), "bytes");
  for (const Note& note : run.notes) line("degradation", "", note.text, "");
  for (const Finding& finding : summary.findings)
    line("finding", std::string(name_of(finding.kind)), finding.sentence, "");
}

}  // namespace prof
