#include "analysis/views/compare/matched_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/views/compare/matching.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/wording.h"

namespace prof {
namespace {

// The parts of a database that the trees of several runs can share.
Database without_values(const Database& database) {
  Database result;
  result.title = database.title;
  result.modules = database.modules;
  result.files = database.files;
  result.functions = database.functions;
  result.contexts = database.contexts;
  result.metrics = database.metrics;
  return result;
}

double samples_of(const Database& database, const RunSummary& run, const Metric& metric) {
  if (const auto own = run.by_metric.find(metric.name); own != run.by_metric.end() && own->second.samples)
    return static_cast<double>(*own->second.samples);
  // If there is only one metric, the samples of all metrics are its samples.
  return database.metrics.size() == 1 ? static_cast<double>(run.sampling.samples.value_or(0)) : 0;
}

uint32_t metric_named(const Database& database, const Metric& wanted) {
  const std::vector<uint32_t> found = select(database, {wanted.name}, {}).metrics;
  return found.front();
}

// Returns the representative of each function: the original for copies, and one function for all code of a
// module without names.
class Standing {
 public:
  explicit Standing(Database& database) : database_(database) {}

  void apply() {
    const auto count = static_cast<uint32_t>(database_.functions.size());
    std::vector<uint32_t> stands(count);
    for (uint32_t f = 0; f < count; ++f) note_original(f);
    for (uint32_t f = 0; f < count; ++f) stands[f] = standing_for(f);
    for (Context& context : database_.contexts) {
      if (context.kind == ContextKind::Function && context.function < count) {
        context.function = stands[context.function];
      } else if (context.kind == ContextKind::Instruction && starts_frame(context) &&
                 context.module < database_.modules.size()) {
        context.kind = ContextKind::Function;
        context.function = nameless(context.module);
        context.module = kNone;
        context.offset = 0;
      }
    }
  }

 private:
  using Key = std::tuple<std::string, uint32_t, uint32_t>;  // name, module and file

  static bool is_copy(const Function& function) { return without_clone(function.name) != function.name; }
  static Key key(const Function& function) {
    return {std::string(without_clone(function.name)), function.module, function.file};
  }
  void note_original(uint32_t f) {
    const Function& function = database_.functions[f];
    if (!is_copy(function)) originals_.try_emplace(key(function), f);
  }
  uint32_t standing_for(uint32_t f) {
    const Function& function = database_.functions[f];
    const Frame frame{FrameKind::Function, f, function.module, function.offset, function.file, function.line};
    if (!has_symbol(database_, frame)) {
      // A bracketed name denotes a function of its module and is kept unchanged.
      const bool is_bracketed = !function.name.empty() && function.name.front() != '<' &&
                                frame_name(database_, frame).front() == '[';
      return is_bracketed || function.module >= database_.modules.size() ? f : nameless(function.module);
    }
    return is_copy(function) ? originals_.try_emplace(key(function), f).first->second : f;
  }
  uint32_t nameless(uint32_t module) {
    const auto [at, is_new] = nameless_.try_emplace(module, kNone);
    if (is_new) {
      at->second = static_cast<uint32_t>(database_.functions.size());
      Function function;
      function.name = fmt::format("[{}]", base_name(database_.modules[module].path));
      function.module = module;
      database_.functions.push_back(function);
    }
    return at->second;
  }

  Database& database_;
  std::map<Key, uint32_t> originals_;
  std::map<uint32_t, uint32_t> nameless_;
};

}  // namespace

void RunMatcher::note_sources(const Database& database, const std::filesystem::path& path,
                              const std::vector<uint32_t>& files, bool is_after) {
  std::vector<std::optional<SourceText>>& sources = is_after ? after_ : before_;
  sources.resize(all_.files.size());
  for (uint32_t f = 0; f < files.size(); ++f)
    if (files[f] < database.files.size() && database.files[files[f]].copied && !sources[f])
      sources[f].emplace(path, database.files[files[f]]);
}

void RunMatcher::add(const Database& database, const std::string& name, const std::filesystem::path& path,
                     bool is_after) {
  Selection selection =
      select(database, metric_.empty() ? std::vector<std::string>{} : std::vector{metric_}, {});
  if (!selection.metrics.empty()) selection.metrics.resize(1);
  if (is_first_ && selection.metrics.empty())
    throw SelectionError(SelectionFailure::UnknownMetric,
                         "this database has no metrics, so it cannot be compared; measure the run again");
  const uint32_t metric =
      is_first_ ? selection.metrics.front() : metric_named(database, all_.metrics[metric_of_all_]);
  selection.metrics = {metric};

  ComparedRun run;
  run.name = name;
  run.is_after = is_after;
  run.title = database.title;
  const RunSummary summary = run_summary(database);
  run.samples = samples_of(database, summary, database.metrics[metric]);
  run.ranks = summary.ranks;
  run.threads = summary.threads;

  std::vector<uint32_t> contexts(database.contexts.size()), files(database.files.size());
  if (is_first_) {
    for (uint32_t c = 0; c < contexts.size(); ++c) contexts[c] = c;
    for (uint32_t f = 0; f < files.size(); ++f) files[f] = f;
    all_ = without_values(database);
    metric_of_all_ = metric;
    is_first_ = false;
  } else {
    const auto both = match_databases(all_, database);
    contexts = both->contexts;
    files = both->files;
    all_ = without_values(both->database);
    all_.metrics.resize(both->metric_count);
  }
  note_sources(database, path, files, is_after);

  const std::vector<Cost> costs = std::move(context_costs(database, selection).front());
  const std::vector<double> own = own_costs(database, metric);
  std::vector<Cost>& matched = costs_.emplace_back(all_.contexts.size());
  run.own.resize(all_.contexts.size());
  for (uint32_t c = 0; c < contexts.size(); ++c) {
    matched[contexts[c]].inclusive += costs[c].inclusive;
    matched[contexts[c]].exclusive += costs[c].exclusive;
    run.own[contexts[c]] += own[c];
    if (database.contexts[c].parent == kNone) run.total += costs[c].inclusive;
  }
  runs_.push_back(std::move(run));
}

void RunMatcher::finish(MatchedRuns& result) {
  result.database = std::move(all_);
  result.metric = metric_of_all_;
  result.runs = std::move(runs_);
  result.sources_before = std::move(before_);
  result.sources_after = std::move(after_);
  result.sources_before.resize(result.database.files.size());
  result.sources_after.resize(result.database.files.size());
  Standing(result.database).apply();

  const size_t width = result.runs.size(), contexts = result.database.contexts.size();
  for (size_t r = 0; r < width; ++r) {
    result.runs[r].own.resize(contexts);
    costs_[r].resize(contexts);
  }
  Selection selection;
  selection.metrics.assign(width, result.metric);
  result.tree = build_call_tree(result.database, selection, std::move(costs_), false, Inlining::Ignored);
}

}  // namespace prof
