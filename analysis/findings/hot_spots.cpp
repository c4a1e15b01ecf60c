#include "analysis/findings/hot_spots.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/attribution/own_runtime.h"
#include "analysis/findings/costs.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/hot_path.h"
#include "analysis/views/tree/program_lines.h"
#include "analysis/views/tree/wording.h"
#include "analysis/words/short_names.h"

namespace prof {
namespace {

constexpr double kWorthNaming = 0.10;  // a smaller hot spot does not make a program slow
constexpr double kMajorityShare = 0.5;
constexpr double kNearlyAll = 0.90;   // a larger subtree is the program itself
constexpr size_t kLinesNamed = 3;     // a fourth line of 10 % is in the table above the findings
constexpr size_t kMaxRuntimeFunctions = 8;  // above the program's most expensive function
constexpr size_t kNameColumns = 48;   // a sentence stays readable; the finding's context has the full name

// `share`: of the function's cost, the part at this location, 0..1.
std::string function_at(const CallTree& tree, uint32_t frame, const SourceLocation& location,
                        double share = 1) {
  const std::string at = format_location(*tree.database, location);
  const std::string name = shorten_name(frame_name(*tree.database, tree.frames[frame]), kNameColumns);
  if (!at.empty() && !is_all(share))
    return fmt::format("{} ({} of that at {})", name, format_percent(share), at);
  if (!at.empty()) return fmt::format("{} ({})", name, at);
  const std::string module = format_module(*tree.database, tree.frames[frame]);
  return module.empty() ? name : fmt::format("{} ({})", name, module);
}

// True for "void std::__introsort_loop<int*>(...)": a reserved name in the C++ library, which programs do not
// call directly. Not for the inline namespaces of its versions, std::__cxx11 and std::__1.
bool is_library_internal(std::string_view name) {
  size_t start = 0;  // after the type that function templates return
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

// Excludes code of the runtime, whose cost findings on the measurement report.
bool is_of_runtime(const CallTree& tree, uint32_t frame) {
  const uint32_t module = tree.frames[frame].module;
  return module < tree.database->modules.size() && is_own_runtime(tree.database->modules[module].path);
}

Naming naming(const CallTree& tree, const PathStep& step) {
  const Frame& frame = tree.frames[step.frame];
  if (is_of_runtime(tree, step.frame)) return Naming::None;
  const std::string name = frame_name(*tree.database, frame);
  if (!has_symbol(*tree.database, frame) || is_start_code(name)) return Naming::None;
  return is_library_internal(name) ? Naming::Internal : Naming::Helpful;
}

// Returns the nearest other function of the program that has a name, before those of the C++ library; nullptr
// if none is known.
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

// Finds the step at which the cost of a path begins to spread: the last one that has at least half the cost
// of the first. For recursion, that is the outermost call. For code without a name, or with one within the
// C++ library only, it is the nearest caller with a name.
const PathStep* spreading_step(const CallTree& tree, const std::vector<PathStep>& path) {
  const auto first = std::ranges::find_if(
      path, [&](const PathStep& step) { return tree.frames[step.frame].kind != FrameKind::Entry; });
  if (first == path.end()) return nullptr;
  auto at = first;
  while (std::next(at) != path.end() && std::next(at)->inclusive >= first->inclusive * kMajorityShare) ++at;
  at = std::ranges::find(path, at->frame, &PathStep::frame);
  for (auto named = at;; --named) {
    if (naming(tree, *named) == Naming::Helpful) return &*named;
    if (named == first) return &*at;
  }
}

class HotSpots {
 public:
  explicit HotSpots(const CallTree& tree) : tree_(tree) {}

  std::vector<Finding> all() {
    if (tree_.totals[0] > 0) find();
    return std::move(findings_);
  }

 private:
  void find() {
    const Metric& metric = tree_.metric(0);
    const std::vector<HotFunction> functions = hot_functions(tree_, 1 + kMaxRuntimeFunctions);
    const std::vector<PathStep> path = hot_path(tree_);
    const auto first = std::ranges::find_if_not(
        functions, [&](const HotFunction& function) { return is_of_runtime(tree_, function.frame); });
    const HotFunction* hot = first == functions.end() ? nullptr : &*first;
    const double share = hot ? tree_.share(hot->cost.exclusive, 0) : 0;
    const std::vector<ProgramLine> lines = lines_with_library_code();
    for (const ProgramLine& line : lines) hot_line(line);
    if (hot && share >= kWorthNaming && !is_explained(*hot, lines)) {
      Finding finding = costed_finding(tree_, FindingKind::HotPath, metric, hot->cost.exclusive);
      finding.severity = severity_of(share, 0.15, 0.4);
      finding.sentence = fmt::format("{} of {} {} in {}", format_percent(share), format_metric(metric),
                                     is_time(metric) ? "is" : "are",
                                     function_at(tree_, hot->frame, hot->location, hot->share_at_location));
      if (const PathStep* caller = caller_to_name(tree_, *hot))
        finding.sentence += ", reached from " + function_at(tree_, caller->frame, caller->location);
      finding.sentence += ".";
      FindingContext context{"hottest", {code_frame(tree_, hot->frame, hot->location)}};
      for (const PathStep& caller : hot->callers)
        context.frames.push_back(code_frame(tree_, caller.frame, caller.location));
      finding.contexts.push_back(std::move(context));
      finding.values = {{"exclusive", hot->cost.exclusive}, {"inclusive", hot->cost.inclusive}};
      findings_.push_back(std::move(finding));
    }
    // If one function has most of the cost, the path to its callers adds nothing.
    const PathStep* spread = spreading_step(tree_, path);
    const double subtree = spread ? tree_.share(spread->inclusive, 0) : 0;
    if (spread != nullptr && share < kMajorityShare && subtree >= kWorthNaming && subtree <= kNearlyAll &&
        (!hot || hot->frame != spread->frame) && !mostly_in(hot, *spread, path))
      hot_subtree(path, *spread, share >= kWorthNaming);
  }

  // Reports the lines of the program whose cost is in the library code that they call. A function's own costs
  // belong to the finding on that function.
  std::vector<ProgramLine> lines_with_library_code() const {
    std::vector<ProgramLine> lines = program_lines(tree_, SIZE_MAX);
    std::erase_if(lines, [&](const ProgramLine& line) {
      return tree_.share(line.cost - line.own, 0) < kWorthNaming || line.call == kNone;
    });
    if (lines.size() > kLinesNamed) lines.resize(kLinesNamed);
    return lines;
  }

  // True if most of the cost of a library function was spent on behalf of lines that are named.
  bool is_explained(const HotFunction& hot, const std::vector<ProgramLine>& lines) const {
    if (lines.empty() || !is_library_code(*tree_.database, tree_.frames[hot.frame])) return false;
    const std::vector<uint32_t> line_of = charged_lines(tree_, lines);
    double explained = 0;
    for (const uint32_t c : tree_.starts)
      if (line_of[c] != kNone && tree_.nodes[tree_.node_of[c]].frame == hot.frame)
        explained += tree_.by_context[0][c].exclusive;
    return explained >= hot.cost.exclusive * kMajorityShare;
  }

  // Returns "inflate (libz.so.1)"; for parts of the standard library in the program's own module the name
  // alone.
  std::string library_function(uint32_t frame) const {
    if (is_system_module(*tree_.database, tree_.frames[frame].module)) return function_at(tree_, frame, {});
    return shorten_name(frame_name(*tree_.database, tree_.frames[frame]), kNameColumns);
  }

  void hot_line(const ProgramLine& line) {
    const Metric& metric = tree_.metric(0);
    const double share = tree_.share(line.cost, 0);
    Finding finding = costed_finding(tree_, FindingKind::HotPath, metric, line.cost);
    finding.severity = severity_of(share, 0.15, 0.4);
    finding.sentence = fmt::format(
        "{} of {} {} in {} and the library code that it calls: {} in {}.", format_percent(share),
        format_metric(metric), is_time(metric) ? "is" : "are", function_at(tree_, line.frame, line.location),
        format_percent(tree_.share(line.call_cost, 0)), library_function(line.call));
    FindingContext context{"hottest", {code_frame(tree_, line.frame, line.location)}};
    for (const PathStep& caller : callers_of(tree_, line.context))
      context.frames.push_back(code_frame(tree_, caller.frame, caller.location));
    finding.contexts.push_back(std::move(context));
    finding.values = {{"exclusive", line.own}, {"inclusive", line.cost}};
    findings_.push_back(std::move(finding));
  }

  // True if the path continues to a function that spends most of the step's cost itself.
  static bool mostly_in(const HotFunction* hot, const PathStep& step, const std::vector<PathStep>& path) {
    if (!hot || hot->cost.exclusive < step.inclusive * kMajorityShare) return false;
    return std::any_of(&step, path.data() + path.size(),
                       [&](const PathStep& below) { return below.frame == hot->frame; });
  }

  void hot_subtree(const std::vector<PathStep>& path, const PathStep& last, bool has_hot_function) {
    const Metric& metric = tree_.metric(0);
    Finding finding = costed_finding(tree_, FindingKind::HotSubtree, metric, last.inclusive);
    // It costs more than a hot function inside it, but shows less about what to change.
    finding.severity = has_hot_function ? Severity::Low : Severity::Medium;
    finding.sentence = fmt::format("{} of {} {} in {} and what it calls, spread over several callees.",
                                   format_percent(tree_.share(last.inclusive, 0)), format_metric(metric),
                                   is_time(metric) ? "is spent" : "are",
                                   function_at(tree_, last.frame, last.location, last.share_at_location));
    FindingContext context{"hottest", {}};
    for (const PathStep* step = &last; step >= path.data(); --step)
      if (tree_.frames[step->frame].kind != FrameKind::Entry)
        context.frames.push_back(code_frame(tree_, step->frame, step->location));
    finding.contexts.push_back(std::move(context));
    finding.values = {{"inclusive", last.inclusive}};
    findings_.push_back(std::move(finding));
  }

  const CallTree& tree_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> hot_spot_findings(const CallTree& tree) {
  return HotSpots(tree).all();
}

}  // namespace prof
