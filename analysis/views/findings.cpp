#include "analysis/views/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/views/code_generators.h"
#include "analysis/views/idleness.h"
#include "analysis/views/wording.h"

namespace prof {
namespace {

constexpr double kWorthNaming = 0.10;  // a smaller hot spot is not what makes a program slow
constexpr double kMostOfIt = 0.5;
constexpr double kIncompleteStacks = 0.01;  // below, shares move by less than they are printed with
constexpr double kRateShortfall = 0.90;     // delivered rates vary by some percent from run to run
constexpr double kDroppedSamples = 0.01;
constexpr double kOverhead = 0.05;
constexpr double kLeastCpuSeconds = 0.1;  // of less, most is the start and the end
constexpr double kOverheadOfWall = 0.01;  // below, a program that waits has nothing to gain
constexpr uint64_t kManyProcesses = 10;
constexpr double kMostSecondsOfSample = 10e-6;  // in the handler; deep and new call paths included
constexpr double kEnoughTime = 10;  // sampling periods, in which at least one sample should have come
constexpr double kWithoutLines = 0.20;
constexpr char kGeneratedCode[] = "generated_code";  // the reason of stacks that end in such
constexpr size_t kNameColumns = 48;    // a sentence stays readable; the finding's context has the full name
constexpr uint64_t kFewSamples = 100;  // one standard error of a share of one half is then 5 points

Severity severity_of(double value, double medium, double high) {
  return value >= high ? Severity::High : value >= medium ? Severity::Medium : Severity::Low;
}

FindingFrame describe(const CallTree& tree, uint32_t frame, const Place& place) {
  const Database& database = *tree.database;
  FindingFrame result;
  result.function = frame_name(database, tree.frames[frame]);
  if (place.file < database.files.size()) result.file = database.files[place.file].path;
  result.line = result.file.empty() ? 0 : place.line;
  if (tree.frames[frame].module < database.modules.size())
    result.module = database.modules[tree.frames[frame].module].path;
  return result;
}

// The share is that of the function's cost which is at the place, as 0..1.
std::string function_at(const CallTree& tree, uint32_t frame, const Place& place, double share = 1) {
  const std::string at = words_for_place(*tree.database, place);
  const std::string name = shorten_middle(frame_name(*tree.database, tree.frames[frame]), kNameColumns);
  if (!at.empty() && !is_all(share))
    return fmt::format("{} ({} of that at {})", name, words_for_percent(share), at);
  if (!at.empty()) return fmt::format("{} ({})", name, at);
  const std::string module = words_for_module(*tree.database, tree.frames[frame]);
  return module.empty() ? name : fmt::format("{} ({})", name, module);
}

std::string cost_basis(const Metric& metric) {
  return is_time(metric) ? "clock time between samples" : "sampled events";
}

// What calls main() and the functions of threads: true of every program, and no place in it.
bool is_start_code(const std::string& name) {
  constexpr std::string_view kNames[] = {"_start",  "start_thread", "clone",         "clone3",
                                         "__clone", "__clone3",     "__GI___clone3", "__clone_internal"};
  return name.starts_with("__libc_start") || std::ranges::find(kNames, name) != std::end(kNames);
}

// "void std::__introsort_loop<int*>(...)": a reserved name in the C++ library, which no program calls itself.
// Not so the inline namespaces of its versions, std::__cxx11 and std::__1.
bool is_library_internal(std::string_view name) {
  size_t start = 0;  // behind the type that function templates return
  int depth = 0;
  for (size_t i = 0; i < name.size() && (name[i] != '(' || depth > 0); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == ' ' && depth == 0) start = i + 1;
  }
  name.remove_prefix(start);
  if (name.starts_with("std::__cxx11::") || name.starts_with("std::__1::")) return false;
  return name.starts_with("std::_") || name.starts_with("__gnu_cxx::");
}

enum class Naming : uint8_t {
  Helpful,
  Internal,  // of the C++ library
  None       // no name, or start code's
};

Naming naming(const CallTree& tree, const PathStep& step) {
  const Frame& frame = tree.frames[step.frame];
  const std::string name = frame_name(*tree.database, frame);
  if (!has_symbol(*tree.database, frame) || is_start_code(name)) return Naming::None;
  return is_library_internal(name) ? Naming::Internal : Naming::Helpful;
}

// The nearest other function of the program that has a name, before those of the C++ library's own; nullptr
// where none is known.
const PathStep* caller_to_name(const CallTree& tree, const HotFunction& hot) {
  const PathStep* internal = nullptr;
  for (const PathStep& caller : hot.callers) {
    if (caller.frame == hot.frame) continue;
    const Naming how = naming(tree, caller);
    if (how == Naming::Helpful) return &caller;
    if (how == Naming::Internal && internal == nullptr) internal = &caller;
  }
  return internal;
}

// Where the cost of a path begins to spread: the last step that has at least half of what its first function
// has. Of recursion that is the outermost call; what has no name, or only one within the C++ library, goes by
// the nearest caller that has one.
const PathStep* spreading_step(const CallTree& tree, const std::vector<PathStep>& path) {
  const auto first = std::ranges::find_if(
      path, [&](const PathStep& step) { return tree.frames[step.frame].kind != FrameKind::Entry; });
  if (first == path.end()) return nullptr;
  auto at = first;
  while (std::next(at) != path.end() && std::next(at)->inclusive >= first->inclusive * kMostOfIt) ++at;
  at = std::ranges::find(path, at->frame, &PathStep::frame);
  for (auto named = at;; --named) {
    if (naming(tree, *named) == Naming::Helpful) return &*named;
    if (named == first) return &*at;
  }
}

void put_in_order(std::vector<Finding>& findings) {
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return (a.cost ? a.cost->share_of_run : 0) > (b.cost ? b.cost->share_of_run : 0);
  });
}

class Finder {
 public:
  Finder(const CallTree& tree, const RunSummary& run)
      : tree_(tree), run_(run), sampling_(shown_sampling(tree, run)) {}

  std::vector<Finding> all() {
    if (is_empty()) {
      no_samples();
      degradation_of_sampling();
      return std::move(findings_);
    }
    hot_spots();
    std::ranges::move(idleness(*tree_.database, tree_.selection, run_).findings,
                      std::back_inserter(findings_));
    degradation_of_sampling();
    line_information();
    put_in_order(findings_);
    return std::move(findings_);
  }

 private:
  bool is_empty() const {
    return std::all_of(tree_.totals.begin(), tree_.totals.end(), [](double total) { return total <= 0; });
  }

  void no_samples() {
    Finding finding;
    finding.kind = "no-samples";
    finding.severity = Severity::High;
    std::string why;
    const double wall = run_.wall_s.value_or(0);
    if (run_.wall_s && sampling_.requested_hz && wall * *sampling_.requested_hz < kEnoughTime) {
      why = fmt::format("{} are too short for {:.0f} samples/s", words_for_duration(wall),
                        *sampling_.requested_hz);
      finding.advice = "run it longer, or on a larger input";
    } else if (run_.wall_s && run_.cpu_s && *run_.cpu_s < wall / 10) {
      why = fmt::format("the program used {} of CPU time in {}", words_for_duration(*run_.cpu_s),
                        words_for_duration(wall));
      finding.advice = "-e REALTIME measures waiting, too";
    } else if (run_.wall_s) {
      why = "the program ran for " + words_for_duration(wall);
    }
    finding.sentence = "No samples";
    if (!why.empty()) finding.sentence += ": " + why;
    if (!finding.advice.empty()) finding.sentence += "; " + finding.advice;
    finding.sentence += ".";
    findings_.push_back(std::move(finding));
  }

  void hot_spots() {
    if (tree_.totals[0] <= 0) return;
    const Metric& metric = tree_.metric(0);
    const std::vector<HotFunction> functions = hot_functions(tree_, 1);
    const std::vector<PathStep> path = hot_path(tree_);
    const HotFunction* hot = functions.empty() ? nullptr : &functions.front();
    const double share = hot ? tree_.share(hot->cost.exclusive, 0) : 0;
    if (hot && share >= kWorthNaming) {
      Finding finding = costed("hot-path", metric, hot->cost.exclusive);
      finding.severity = severity_of(share, 0.15, 0.4);
      finding.sentence = fmt::format("{} of {} {} in {}", words_for_percent(share), words_for_metric(metric),
                                     is_time(metric) ? "is" : "are",
                                     function_at(tree_, hot->frame, hot->place, hot->share_at_place));
      if (const PathStep* caller = caller_to_name(tree_, *hot))
        finding.sentence += ", reached from " + function_at(tree_, caller->frame, caller->place);
      finding.sentence += ".";
      FindingContext context{"hottest", {describe(tree_, hot->frame, hot->place)}};
      for (const PathStep& caller : hot->callers)
        context.frames.push_back(describe(tree_, caller.frame, caller.place));
      finding.contexts.push_back(std::move(context));
      finding.values = {{"exclusive", hot->cost.exclusive}, {"inclusive", hot->cost.inclusive}};
      findings_.push_back(std::move(finding));
    }
    // Where one function has most of the cost, the path to its callers says nothing new.
    const PathStep* spread = spreading_step(tree_, path);
    if (spread != nullptr && share < kMostOfIt && tree_.share(spread->inclusive, 0) >= kWorthNaming &&
        (!hot || hot->frame != spread->frame) && !mostly_in(hot, *spread, path))
      hot_subtree(path, *spread, share >= kWorthNaming);
  }

  // True where the path leads on to a function that spends most of the step's cost itself.
  static bool mostly_in(const HotFunction* hot, const PathStep& step, const std::vector<PathStep>& path) {
    if (!hot || hot->cost.exclusive < step.inclusive * kMostOfIt) return false;
    return std::any_of(&step, path.data() + path.size(),
                       [&](const PathStep& below) { return below.frame == hot->frame; });
  }

  void hot_subtree(const std::vector<PathStep>& path, const PathStep& last, bool has_hot_function) {
    const Metric& metric = tree_.metric(0);
    Finding finding = costed("hot-subtree", metric, last.inclusive);
    // Costs more than a hot function inside it but says less about what to change.
    finding.severity = has_hot_function ? Severity::Low : Severity::Medium;
    finding.sentence = fmt::format("{} of {} {} in {} and what it calls, spread over several callees.",
                                   words_for_percent(tree_.share(last.inclusive, 0)),
                                   words_for_metric(metric), is_time(metric) ? "is spent" : "are",
                                   function_at(tree_, last.frame, last.place, last.share_at_place));
    FindingContext context{"hottest", {}};
    for (const PathStep* step = &last; step >= path.data(); --step)
      if (tree_.frames[step->frame].kind != FrameKind::Entry)
        context.frames.push_back(describe(tree_, step->frame, step->place));
    finding.contexts.push_back(std::move(context));
    finding.values = {{"inclusive", last.inclusive}};
    findings_.push_back(std::move(finding));
  }

  void degradation_of_sampling() {
    stack_quality();
    rate();
    dropped();
    overhead();
    few_samples();
  }

  void stack_quality() {
    if (!run_.stacks || run_.stacks->all() == 0) return;
    const StackQuality& stacks = *run_.stacks;
    const auto all = static_cast<double>(stacks.all());
    const double broken = static_cast<double>(stacks.broken) / all;
    const double partial = static_cast<double>(stacks.partial) / all;
    if (broken + partial < kIncompleteStacks) return;
    Finding finding;
    finding.kind = "stack-quality";
    finding.severity = severity_of(broken + partial, 0.05, 0.2);
    const char* kind = partial == 0 ? "broken" : broken == 0 ? "partial" : "partial or broken";
    finding.sentence = fmt::format("{} of samples have {} stacks", words_for_percent(broken + partial), kind);
    add_top_reason(stacks.reasons, ", mostly because ", finding);
    finding.values = {{"partial", partial}, {"broken", broken}};
    findings_.push_back(std::move(finding));
  }

  void rate() {
    if (!sampling_.requested_hz || !sampling_.delivered_hz || *sampling_.requested_hz <= 0) return;
    const double share = *sampling_.delivered_hz / *sampling_.requested_hz;
    if (share >= kRateShortfall || sampling_.samples.value_or(1) == 0) return;
    Finding finding;
    finding.kind = "rate";
    finding.severity = severity_of(1 - share, 0.5, 2);
    finding.sentence = fmt::format(
        "Delivered {:.0f} of {:.0f} samples/s: shares stay right because samples are "
        "weighted by elapsed time, but detail is coarser than asked for.",
        *sampling_.delivered_hz, *sampling_.requested_hz);
    finding.values = {{"requested_hz", *sampling_.requested_hz}, {"delivered_hz", *sampling_.delivered_hz}};
    findings_.push_back(std::move(finding));
  }

  void dropped() {
    const auto dropped = static_cast<double>(run_.dropped_samples());
    const double all = dropped + static_cast<double>(run_.sampling.samples.value_or(0));
    if (dropped <= 0 || dropped < all * kDroppedSamples) return;
    Finding finding;
    finding.kind = "dropped";
    finding.severity = severity_of(dropped / all, 0.05, 0.2);
    finding.sentence = fmt::format("{} of samples were dropped", words_for_percent(dropped / all));
    add_top_reason(run_.dropped, ", mostly because ", finding);
    finding.values = {{"dropped", dropped}};
    findings_.push_back(std::move(finding));
  }

  static bool are_few(const std::optional<uint64_t>& samples) {
    return samples && *samples > 0 && *samples < kFewSamples;
  }

  // Of many short processes, what their samples cost at most is little of it.
  bool is_mostly_starts(double overhead_s) const {
    const double in_samples = static_cast<double>(sampling_.samples.value_or(0)) * kMostSecondsOfSample;
    return run_.processes >= kManyProcesses && in_samples < overhead_s * kMostOfIt;
  }

  void overhead() {
    if (!run_.overhead_cpu_s || !run_.cpu_s || *run_.cpu_s <= 0) return;
    // Of one process, start and end are then all that was measured.
    if (are_few(run_.sampling.samples) && run_.processes < kManyProcesses) return;
    const double share = *run_.overhead_cpu_s / *run_.cpu_s;
    if (share < kOverhead || *run_.cpu_s < kLeastCpuSeconds) return;
    if (run_.wall_s && *run_.overhead_cpu_s < *run_.wall_s * kOverheadOfWall) return;
    Finding finding;
    finding.kind = "overhead";
    finding.severity = severity_of(share, 0.1, 0.3);
    const bool starts = is_mostly_starts(*run_.overhead_cpu_s);
    finding.advice = starts ? "measure the part that runs longer, or a longer run of it"
                            : "ask for fewer samples per second";
    const std::string why =
        starts ? fmt::format(", most of it the start of {} short processes", run_.processes) : "";
    finding.sentence = fmt::format("Measuring took about {} of the CPU time{}: {}.", words_for_percent(share),
                                   why, finding.advice);
    finding.values = {{"share", share}, {"processes", static_cast<double>(run_.processes)}};
    findings_.push_back(std::move(finding));
  }

  void few_samples() {
    if (!are_few(sampling_.samples)) return;
    Finding finding;
    finding.kind = "few-samples";
    finding.severity = Severity::Medium;
    const double error = 50 / std::sqrt(static_cast<double>(*sampling_.samples));
    finding.advice = "run it longer, or ask for more samples per second";
    finding.sentence = fmt::format("Only {}: shares are uncertain by up to {:.0f} points; {}.",
                                   words_for_count(*sampling_.samples, "sample"), error, finding.advice);
    finding.values = {{"samples", static_cast<double>(*sampling_.samples)}, {"standard_error_points", error}};
    findings_.push_back(std::move(finding));
  }

  // What the costs in code without lines are in, by module, and of them what has no name either.
  struct WithoutLines {
    double cost = 0;
    std::vector<double> of_module, unnamed;
  };

  WithoutLines without_lines() const {
    WithoutLines result;
    result.of_module.resize(tree_.database->modules.size(), 0);
    result.unnamed = result.of_module;
    std::vector<bool> has_line(tree_.nodes.size(), false);
    const std::vector<Context>& contexts = tree_.database->contexts;
    for (uint32_t c = 0; c < contexts.size(); ++c)
      if (contexts[c].kind == ContextKind::Line && contexts[c].line > 0) has_line[tree_.node_of[c]] = true;
    for (uint32_t n = 0; n < tree_.nodes.size(); ++n) {
      const Frame& frame = tree_.frames[tree_.nodes[n].frame];
      if (has_line[n] || definition(frame).known() || frame.kind == FrameKind::Entry) continue;
      const double cost = tree_.cost(n, 0).exclusive;
      result.cost += cost;
      if (frame.module >= result.of_module.size()) continue;
      result.of_module[frame.module] += cost;
      if (frame_name(*tree_.database, frame).starts_with('[')) result.unnamed[frame.module] += cost;
    }
    return result;
  }

  // What helps where code of this module has no lines; empty where nothing does.
  std::string advice_for_lines(const WithoutLines& without, size_t module) const {
    const std::string& path = tree_.database->modules[module].path;
    const bool is_unnamed = without.unnamed[module] > without.of_module[module] / 2;
    if (path == "[jit]") return is_unnamed ? std::string(code_generator(*tree_.database).names) : "";
    if (path.starts_with('[')) return {};
    // Symbols or debug information of a file that was not the measured one would have been of no use.
    if (is_unnamed)
      return "its file is gone, cannot be read, or is another than was measured: analyze before it changes";
    return "build it with -g or install its debug symbols to see lines";
  }

  void line_information() {
    if (tree_.totals[0] <= 0) return;
    const WithoutLines without = without_lines();
    const double share = tree_.share(without.cost, 0);
    if (share < kWithoutLines) return;
    Finding finding = costed("line-information", tree_.metric(0), without.cost);
    finding.severity = Severity::Low;
    finding.sentence =
        fmt::format("{} of {} {} in code without line information", words_for_percent(share),
                    words_for_metric(tree_.metric(0)), is_time(tree_.metric(0)) ? "is" : "are");
    const auto most = std::max_element(without.of_module.begin(), without.of_module.end());
    if (most != without.of_module.end() && *most > 0) {
      const auto module = static_cast<size_t>(most - without.of_module.begin());
      finding.sentence += fmt::format(", most of it in {}", base_name(tree_.database->modules[module].path));
      finding.advice = advice_for_lines(without, module);
    }
    if (!finding.advice.empty()) finding.sentence += "; " + finding.advice;
    finding.sentence += ".";
    findings_.push_back(std::move(finding));
  }

  Finding costed(const char* kind, const Metric& metric, double value) const {
    Finding finding;
    finding.kind = kind;
    finding.metric = metric.name;
    finding.cost = FindingCost{value, metric.unit, tree_.share(value, 0), cost_basis(metric)};
    return finding;
  }

  void add_top_reason(const Reasons& reasons, const char* lead, Finding& finding) const {
    for (const auto& [reason, count] : by_count(reasons)) {
      ReasonWords words = words_for_reason(reason);
      if (is_complete(reason)) continue;
      if (reason == kGeneratedCode) words.advice = code_generator(*tree_.database).stacks;
      finding.sentence += lead + words.why;
      finding.advice = words.advice;
      if (!words.advice.empty()) finding.sentence += "; " + words.advice;
      break;
    }
    finding.sentence += ".";
  }

  // Stack reasons also count the ways a walk can end well.
  static bool is_complete(const std::string& reason) { return words_for_reason(reason).why.empty(); }

  const CallTree& tree_;
  const RunSummary& run_;
  const Sampling sampling_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string severity_name(Severity severity) {
  switch (severity) {
    case Severity::Low:
      return "low";
    case Severity::Medium:
      return "medium";
    case Severity::High:
      return "high";
  }
  return "low";
}

std::vector<Finding> find(const CallTree& tree, const RunSummary& run) {
  return Finder(tree, run).all();
}

void add_findings(std::vector<Finding>& findings, std::vector<Finding> more) {
  std::ranges::move(more, std::back_inserter(findings));
  put_in_order(findings);
}

}  // namespace prof
