#include "analysis/findings/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/attribution/own_runtime.h"
#include "analysis/findings/costs.h"
#include "analysis/views/run/code_generators.h"
#include "analysis/views/run/interpreters.h"
#include "analysis/views/run/overhead.h"
#include "analysis/views/tree/wording.h"

namespace prof {
namespace {

constexpr double kIncompleteStacks = 0.01;  // below, shares move by less than the printed precision
constexpr double kRateShortfall = 0.90;     // delivered rates vary by some percent from run to run
constexpr double kDroppedSamples = 0.01;
constexpr double kOverhead = 0.05;
constexpr double kMinCpuSeconds = 0.1;    // a shorter run is mostly its start and end
constexpr double kOverheadOfWall = 0.01;  // below, a program that waits has nothing to gain
constexpr double kMajorityOfOverhead = 0.5;
constexpr uint64_t kManyProcesses = 10;
constexpr double kMaxSecondsOfSample = 10e-6;  // in the handler; deep and new call paths included
constexpr double kMinPeriods = 10;  // sampling periods, in which at least one sample should have come
constexpr double kWithoutLines = 0.20;
constexpr char kGeneratedCode[] = "generated_code";  // the reason of stacks that end in such code
constexpr uint64_t kFewSamples = 100;  // one standard error of a share of one half is then 5 points

class MeasurementFinder {
 public:
  MeasurementFinder(const CallTree& tree, const RunSummary& run)
      : tree_(tree), run_(run), sampling_(shown_sampling(tree, run)) {}

  std::vector<Finding> all() {
    const bool is_empty = has_no_costs(tree_);
    if (is_empty) no_samples();
    stack_quality();
    rate();
    dropped();
    overhead();
    few_samples();
    if (!is_empty && !interpreter()) line_information();
    return std::move(findings_);
  }

 private:
  void no_samples() {
    Finding finding;
    finding.kind = FindingKind::NoSamples;
    finding.severity = Severity::High;
    std::string why;
    const double wall = run_.wall_s.value_or(0);
    if (run_.wall_s && sampling_.requested_hz && wall * *sampling_.requested_hz < kMinPeriods) {
      why = fmt::format("{} are too short for {:.0f} samples/s", format_duration(wall),
                        *sampling_.requested_hz);
      finding.advice = "run it longer, or on a larger input";
    } else if (run_.wall_s && run_.cpu_s && *run_.cpu_s < wall / 10) {
      why = fmt::format("the program used {} of CPU time in {}", format_duration(*run_.cpu_s),
                        format_duration(wall));
      finding.advice = "-e REALTIME measures waiting, too";
    } else if (run_.wall_s) {
      why = "the program ran for " + format_duration(wall);
    }
    finding.sentence = "No samples";
    if (!why.empty()) finding.sentence += ": " + why;
    if (!finding.advice.empty()) finding.sentence += "; " + finding.advice;
    finding.sentence += ".";
    findings_.push_back(std::move(finding));
  }

  void stack_quality() {
    if (!run_.stacks || run_.stacks->all() == 0) return;
    const StackQuality& stacks = *run_.stacks;
    const auto all = static_cast<double>(stacks.all());
    const double broken = static_cast<double>(stacks.broken) / all;
    const double partial = static_cast<double>(stacks.partial) / all;
    if (broken + partial < kIncompleteStacks) return;
    Finding finding;
    finding.kind = FindingKind::StackQuality;
    finding.severity = severity_of(broken + partial, 0.05, 0.2);
    const char* kind = partial == 0 ? "broken" : broken == 0 ? "partial" : "partial or broken";
    finding.sentence = fmt::format("{} of samples have {} stacks", format_percent(broken + partial), kind);
    add_top_reason(stacks.reasons, ", mostly because ", finding);
    finding.values = {{"partial", partial}, {"broken", broken}};
    findings_.push_back(std::move(finding));
  }

  void rate() {
    if (!sampling_.requested_hz || !sampling_.delivered_hz || *sampling_.requested_hz <= 0) return;
    const double share = *sampling_.delivered_hz / *sampling_.requested_hz;
    if (share >= kRateShortfall || sampling_.samples.value_or(1) == 0) return;
    Finding finding;
    finding.kind = FindingKind::Rate;
    finding.severity = severity_of(1 - share, 0.5, 2);
    finding.sentence = fmt::format(
        "Delivered {:.0f} of {:.0f} samples/s: shares remain correct because samples are "
        "weighted by elapsed time, but detail is coarser than requested.",
        *sampling_.delivered_hz, *sampling_.requested_hz);
    finding.values = {{"requested_hz", *sampling_.requested_hz}, {"delivered_hz", *sampling_.delivered_hz}};
    findings_.push_back(std::move(finding));
  }

  void dropped() {
    // Signals that the kernel merges into one sample lose no time: a sample represents the time since the
    // previous one.
    Reasons lost = run_.dropped;
    std::erase_if(lost, [](const auto& reason) { return loses_no_time(reason.first); });
    uint64_t samples = 0;
    for (const auto& [reason, n] : lost) samples += n;
    const auto dropped = static_cast<double>(samples);
    const double all = dropped + static_cast<double>(run_.sampling.samples.value_or(0));
    if (dropped <= 0 || dropped < all * kDroppedSamples) return;
    Finding finding;
    finding.kind = FindingKind::Dropped;
    finding.severity = severity_of(dropped / all, 0.05, 0.2);
    finding.sentence = fmt::format("{} of samples were dropped", format_percent(dropped / all));
    add_top_reason(lost, ", mostly because ", finding);
    finding.values = {{"dropped", dropped}};
    findings_.push_back(std::move(finding));
  }

  static bool are_few(const std::optional<uint64_t>& samples) {
    return samples && *samples > 0 && *samples < kFewSamples;
  }

  // True if samples cause less than half of the overhead, by an upper bound of their cost.
  bool is_mostly_else(double overhead_s) const {
    const double in_samples = static_cast<double>(sampling_.samples.value_or(0)) * kMaxSecondsOfSample;
    return in_samples < overhead_s * kMajorityOfOverhead;
  }

  void overhead() {
    if (!run_.overhead_cpu_s || !run_.cpu_s || *run_.cpu_s <= 0) return;
    // If there was one process, its start and end are all that was measured.
    if (are_few(run_.sampling.samples) && run_.processes < kManyProcesses) return;
    const double share = *run_.overhead_cpu_s / *run_.cpu_s;
    if (share < kOverhead || *run_.cpu_s < kMinCpuSeconds) return;
    if (run_.wall_s && *run_.overhead_cpu_s < *run_.wall_s * kOverheadOfWall) return;
    Finding finding;
    finding.kind = FindingKind::Overhead;
    finding.severity = severity_of(share, 0.1, 0.3);
    std::string why;
    finding.advice = "take fewer samples per second";
    const bool starts = run_.processes >= kManyProcesses;
    const OverheadPart part = largest_part(run_);
    if (part == OverheadPart::Hooks) {
      finding.advice = "leave out the -e or --repair option that needs them, unless you need its results";
      why = ", most of it in intercepted calls";
    } else if (part == OverheadPart::Samples) {
      why = ", most of it in samples";
    } else if (part == OverheadPart::Start ||
               ((starts || sampling_.samples) && is_mostly_else(*run_.overhead_cpu_s))) {
      finding.advice = starts ? "measure the part that runs longer, or a longer run of it"
                              : "measure a longer run, because this is done once";
      why = starts ? fmt::format(", most of it the start of {} short processes", run_.processes)
                   : ", most of it to read the unwind tables of its libraries";
    }
    finding.sentence = fmt::format("Measuring took about {} of the CPU time{}: {}.", format_percent(share),
                                   why, finding.advice);
    finding.values = {{"share", share}, {"processes", static_cast<double>(run_.processes)}};
    findings_.push_back(std::move(finding));
  }

  void few_samples() {
    if (!are_few(sampling_.samples)) return;
    Finding finding;
    finding.kind = FindingKind::FewSamples;
    finding.severity = Severity::Medium;
    const double error = 50 / std::sqrt(static_cast<double>(*sampling_.samples));
    finding.advice = "run it longer, or take more samples per second";
    finding.sentence = fmt::format("Only {}: shares are uncertain by up to {:.0f} points; {}.",
                                   format_count(*sampling_.samples, "sample"), error, finding.advice);
    finding.values = {{"samples", static_cast<double>(*sampling_.samples)}, {"standard_error_points", error}};
    findings_.push_back(std::move(finding));
  }

  // Costs in code without lines, by module, and those that have no name either.
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
      if (frame.module < result.of_module.size() &&
          is_own_runtime(tree_.database->modules[frame.module].path))
        continue;  // its lines do not help the user
      const double cost = tree_.cost(n, 0).exclusive;
      result.cost += cost;
      if (frame.module >= result.of_module.size()) continue;
      result.of_module[frame.module] += cost;
      if (frame_name(*tree_.database, frame).starts_with('[')) result.unnamed[frame.module] += cost;
    }
    return result;
  }

  // Returns advice for a module whose code has no lines; empty if there is none.
  std::string advice_for_lines(const WithoutLines& without, size_t module) const {
    const std::string& path = tree_.database->modules[module].path;
    const bool is_unnamed = without.unnamed[module] > without.of_module[module] / 2;
    if (path == "[jit]") return is_unnamed ? std::string(code_generator(*tree_.database).names) : "";
    if (path.starts_with('[')) return {};
    // Symbols or debug information of a file other than the measured one would not help.
    if (is_unnamed)
      return "its file is missing, unreadable, or not the one that was measured: analyze before it changes";
    return "build it with -g or install its debug symbols to see lines";
  }

  // True if most of the cost is an interpreter's, whose lines do not help the author of the script.
  bool interpreter() {
    const InterpreterShare most = interpreter_share(tree_, kWithoutLines);
    if (most.name.empty()) return false;
    Finding finding = costed_finding(tree_, FindingKind::Interpreter, tree_.metric(0), most.cost);
    finding.severity = Severity::Low;
    finding.advice = most.advice;
    finding.sentence = fmt::format("{} of {} {} in the interpreter {}; {}.",
                                   format_percent(tree_.share(most.cost, 0)), format_metric(tree_.metric(0)),
                                   is_time(tree_.metric(0)) ? "is" : "are", most.name, most.advice);
    findings_.push_back(std::move(finding));
    return true;
  }

  void line_information() {
    if (tree_.totals[0] <= 0) return;
    const WithoutLines without = without_lines();
    const double share = tree_.share(without.cost, 0);
    if (share < kWithoutLines) return;
    Finding finding = costed_finding(tree_, FindingKind::LineInformation, tree_.metric(0), without.cost);
    finding.severity = Severity::Low;
    finding.sentence = fmt::format("{} of {} {} in code without line information", format_percent(share),
                                   format_metric(tree_.metric(0)), is_time(tree_.metric(0)) ? "is" : "are");
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

  void add_top_reason(const Reasons& reasons, const char* lead, Finding& finding) const {
    for (const auto& [reason, count] : by_count(reasons)) {
      ReasonWords words = format_reason(reason);
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
  static bool is_complete(const std::string& reason) { return format_reason(reason).why.empty(); }

  const CallTree& tree_;
  const RunSummary& run_;
  const Sampling sampling_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> measurement_findings(const CallTree& tree, const RunSummary& run) {
  return MeasurementFinder(tree, run).all();
}

}  // namespace prof
