#include "analysis/import/builder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <memory>
#include <set>

#include "analysis/database/propagation.h"
#include "analysis/database/summaries.h"
#include "analysis/database/utf8.h"
#include "analysis/pipeline/run_summary.h"

namespace prof {
namespace {

constexpr size_t kBlockRecords = 16 * 1024;
constexpr uint64_t kNsPerSecond = 1'000'000'000;

// Returns the records one block at a time, and starts over after the end.
TraceSource trace_source(std::vector<TraceRecord> records) {
  auto shared = std::make_shared<const std::vector<TraceRecord>>(std::move(records));
  return [shared, next = size_t{0}](std::vector<TraceRecord>& block) mutable {
    const size_t count = std::min(kBlockRecords, shared->size() - next);
    const auto first = shared->begin() + static_cast<ptrdiff_t>(next);
    block.assign(first, first + static_cast<ptrdiff_t>(count));
    next = count == 0 ? 0 : next + count;
    return count != 0;
  };
}

std::string iso_time(uint64_t ns) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(ns / kNsPerSecond)));
}

}  // namespace

DatabaseBuilder::DatabaseBuilder(const std::string& title) : tree_(places_, database_.contexts, false) {
  database_.title = valid_utf8(title);
}

// Makes names that were attributed earlier available by lookup.
void DatabaseBuilder::index_attributed() {
  indexed_ = true;
  for (uint32_t i = 0; i < database_.modules.size(); ++i) modules_.try_emplace(database_.modules[i].path, i);
  for (uint32_t i = 0; i < database_.files.size(); ++i) files_.try_emplace(database_.files[i].path, i);
}

uint32_t DatabaseBuilder::module(std::string_view path) {
  if (!indexed_) index_attributed();
  if (path.empty()) return kNone;
  const auto [at, added] =
      modules_.try_emplace(valid_utf8(path), static_cast<uint32_t>(database_.modules.size()));
  if (added) database_.modules.push_back({at->first});
  return at->second;
}

uint32_t DatabaseBuilder::file(std::string_view path) {
  if (!indexed_) index_attributed();
  if (path.empty()) return kNone;
  const auto [at, added] =
      files_.try_emplace(valid_utf8(path), static_cast<uint32_t>(database_.files.size()));
  if (added) database_.files.push_back({at->first, false});
  return at->second;
}

uint32_t DatabaseBuilder::function(std::string_view name, uint32_t module, uint32_t file, uint32_t line) {
  const auto [at, added] = functions_.try_emplace({valid_utf8(name), module, file, line},
                                                  static_cast<uint32_t>(database_.functions.size()));
  if (added) database_.functions.push_back({std::get<0>(at->first), module, 0, file, line});
  return at->second;
}

uint32_t DatabaseBuilder::metric(const ImportedMetric& metric) {
  const auto known = std::ranges::find_if(metrics_, [&](const MetricState& state) {
    return state.metric.name == metric.name && state.metric.unit == metric.unit;
  });
  if (known != metrics_.end()) return static_cast<uint32_t>(known - metrics_.begin());
  metrics_.push_back({metric, 0, 0});
  database_.metrics.push_back(
      {valid_utf8(metric.name), valid_utf8(metric.unit), valid_utf8(metric.description)});
  return static_cast<uint32_t>(metrics_.size() - 1);
}

uint32_t DatabaseBuilder::profile(const ProfileId& id) {
  Profile& profile = database_.profiles.emplace_back();
  profile.id = id;
  profile.id.host = valid_utf8(id.host);
  profile.id.thread_name = valid_utf8(id.thread_name);
  values_.emplace_back();
  traces_.emplace_back();
  return static_cast<uint32_t>(values_.size() - 1);
}

void DatabaseBuilder::add(uint32_t profile, uint32_t metric, uint32_t context, double value,
                          uint64_t samples) {
  assert(profile < values_.size() && metric < metrics_.size() && std::isfinite(value));
  values_[profile][(uint64_t{context} << 32) | metric] += value;
  database_.profiles[profile].samples += samples;
  metrics_[metric].samples += samples;
  metrics_[metric].value += value * metrics_[metric].metric.scale;
}

void DatabaseBuilder::add_trace(uint32_t profile, std::vector<TraceRecord> records) {
  assert(profile < traces_.size() && std::ranges::is_sorted(records, {}, &TraceRecord::time_ns));
  traces_[profile] = std::move(records);
}

RunSummary DatabaseBuilder::summary_of(const ImportedRun& run,
                                       const std::vector<std::string>& warnings) const {
  std::set<std::pair<std::string, int32_t>> processes;
  std::set<std::tuple<std::string, int32_t, int32_t>> threads;
  uint64_t samples = 0;
  for (const Profile& profile : database_.profiles) {
    processes.emplace(profile.id.host, profile.id.process);
    threads.emplace(profile.id.host, profile.id.process, profile.id.thread);
    samples += profile.samples;
  }
  RunSummary summary;
  summary.command = run.command;
  summary.host = run.host;
  if (run.start_ns) summary.start = iso_time(*run.start_ns);
  summary.processes = processes.size();
  summary.threads = threads.size();
  summary.wall_s = run.wall_s;
  summary.cpu_s = run.cpu_s;

  summary.sampling_recorded = true;
  summary.dropped = run.dropped;
  for (const MetricState& state : metrics_) {
    Sampling& rate = summary.by_metric[state.metric.name];
    rate = {.source = state.metric.source,
            .requested_hz = state.metric.requested_hz,
            .delivered_hz = {},
            .samples = state.samples};
    if (state.metric.unit == "sec" && state.metric.requested_hz && state.value > 0)
      rate.delivered_hz = static_cast<double>(state.samples) / state.value;
    // Takes those of the first metric for which they are known.
    if (summary.sampling.source.empty()) {
      if (!rate.source.empty()) summary.sampling.source = rate.source;
      if (rate.requested_hz) summary.sampling.requested_hz = rate.requested_hz;
      if (rate.delivered_hz) summary.sampling.delivered_hz = rate.delivered_hz;
    }
  }
  summary.sampling.samples = samples;
  for (const std::string& warning : warnings) summary.notes.push_back({hpcrun::NoteKind::Run, warning});
  if (run.contention) {
    summary.looked_for_contention = true;
    summary.contention = *run.contention;
  }

  if (!run.complete.empty() || !run.partial.empty() || !run.broken.empty()) {
    StackQuality& stacks = summary.stacks.emplace();
    for (const auto& [count, reasons] :
         {std::pair(&stacks.complete, &run.complete), std::pair(&stacks.partial, &run.partial),
          std::pair(&stacks.broken, &run.broken)}) {
      for (const auto& [reason, n] : *reasons) {
        *count += n;
        stacks.reasons[reason] = n;
      }
    }
  }
  make_valid_utf8(summary);
  remove_strays(summary, {database_.contexts.size(), database_.profiles.size()});
  return summary;
}

Database DatabaseBuilder::finish(const ImportedRun& run, const std::vector<std::string>& warnings) {
  std::vector<uint32_t> order;
  std::vector<std::pair<uint64_t, double>> points;
  Propagation propagation;
  propagation.begin(database_.contexts);
  for (size_t i = 0; i < values_.size(); ++i) {
    points.assign(values_[i].begin(), values_[i].end());
    values_[i] = {};
    const auto metric_of = [](const auto& point) { return static_cast<uint32_t>(point.first); };
    std::sort(points.begin(), points.end(), [&](const auto& a, const auto& b) {
      return std::pair(metric_of(a), a.first) < std::pair(metric_of(b), b.first);
    });
    std::vector<ProfileValue>& values = database_.profiles[i].values;
    for (size_t at = 0; at < points.size();) {
      const uint32_t metric = metric_of(points[at]);
      for (; at < points.size() && metric_of(points[at]) == metric; ++at) {
        if (points[at].second != 0)
          propagation.add(static_cast<uint32_t>(points[at].first >> 32),
                          points[at].second * metrics_[metric].metric.scale);
      }
      propagation.finish(metric, values);
    }
    sort_values(values);
  }
  // Attributed names come from files, and may be malformed.
  for (LoadModule& module : database_.modules) module.path = valid_utf8(module.path);
  for (SourceFile& file : database_.files) file.path = valid_utf8(file.path);
  for (Function& function : database_.functions) function.name = valid_utf8(function.name);
  database_.summaries = summarize(database_);
  if (std::ranges::any_of(traces_, [](const auto& trace) { return !trace.empty(); })) {
    for (auto& trace : traces_)
      database_.traces.push_back(trace.empty() ? TraceSource{} : trace_source(std::move(trace)));
  }
  database_.run = summary_of(run, warnings);
  return std::move(database_);
}

}  // namespace prof
