#include "analysis/findings/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "analysis/findings/costs.h"
#include "analysis/findings/finding_id.h"
#include "analysis/findings/order.h"
#include "analysis/views/ranks/format_ranks.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/words/numbers.h"

namespace prof {
namespace {

// Shares of a rank's time.
constexpr double kMediumRankShare = 0.15, kHighRankShare = 0.25;
constexpr size_t kMaxOfEachKind = 4;  // the report has them all
constexpr size_t kMaxLocations = 2;
constexpr double kLocationWorthNaming = 0.1;  // of the waiting of ranks
constexpr double kSameBytes = 0.05;

std::string capitalised(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// "computes", "compute"
const char* verb(RankQuantity quantity, bool is_one) {
  switch (quantity) {
    case RankQuantity::Compute:
      return is_one ? "computes" : "compute";
    case RankQuantity::Io:
      return is_one ? "reads and writes files" : "read and write files";
    case RankQuantity::Device:
      return is_one ? "waits for devices" : "wait for devices";
    case RankQuantity::Kernels:
      return is_one ? "executes kernels" : "execute kernels";
    case RankQuantity::Copies:
      return is_one ? "copies to and from devices" : "copy to and from devices";
    default:
      return is_one ? "spends" : "spend";
  }
}

std::string how_long(const RankOutlier& outlier) {
  const std::string times =
      fmt::format("({}, not {})", format_duration(outlier.seconds), format_duration(outlier.median));
  if (outlier.median <= 0 || outlier.seconds > 100 * outlier.median)
    return fmt::format("{}, which the others hardly do", format_duration(outlier.seconds));
  return fmt::format("{:.1f} x as long as the median {}", outlier.seconds / outlier.median, times);
}

std::string how_many_bytes(double ratio) {
  if (std::abs(ratio - 1) < kSameBytes) return "for the same number of bytes";
  return fmt::format("for {:.1f} x as many bytes", ratio);
}

class RankFindings {
 public:
  RankFindings(const CallTree& tree, const RankReport& report)
      : tree_(tree), report_(report), typical_(report.track.maximum) {}

  std::vector<Finding> all() {
    for (size_t i = 0; i < std::min(report_.outliers.size(), kMaxOfEachKind); ++i) add(report_.outliers[i]);
    for (size_t i = 0; i < std::min(report_.imbalances.size(), kMaxOfEachKind); ++i)
      add(report_.imbalances[i]);
    if (report_.late_by_turns_s > 0) add(*report_.late);
    return std::move(findings_);
  }

 private:
  std::string location(uint32_t number) const {
    return format_rank_location(tree_, report_.costs.locations[number]);
  }

  void add_context(Finding& finding, const char* role, uint32_t number) const {
    const uint32_t context = report_.costs.locations[number].context;
    if (context != kNone) finding.contexts.push_back({role, frames_of(tree_, context)});
  }

  // Reports the activity of the slow or late ranks, not the places at which other ranks wait for them.
  void add_subject(Finding& finding, const char* role, uint32_t number) const {
    const size_t known = finding.contexts.size();
    add_context(finding, role, number);
    if (finding.contexts.size() > known) finding.contexts.back().is_subject = true;
  }

  Finding& start(FindingKind kind, double seconds) { return start(kind, seconds, typical_); }

  Finding& start(FindingKind kind, double seconds, double whole) {
    Finding finding;
    finding.kind = kind;
    finding.metric = tree_.metric(report_.costs.metric).name;
    const double share = whole > 0 ? std::min(1.0, seconds / whole) : 0;
    finding.severity = severity_of(share, kMediumRankShare, kHighRankShare);
    finding.cost = FindingCost{seconds, "sec", share, "of a rank; an upper bound of what is saved"};
    finding.saving = at_most(seconds, "time of a rank, if all were alike");
    findings_.push_back(std::move(finding));
    return findings_.back();
  }

  void add(const RankOutlier& outlier) {
    const bool is_of_all = outlier.quantity == RankQuantity::Compute && !outlier.is_of_track;
    Finding& finding =
        start(outlier.node.empty() ? FindingKind::SlowRank : FindingKind::SlowNode, outlier.excess(),
              is_of_all ? report_.find(RankQuantity::Time)->maximum : typical_);
    const bool is_one = outlier.ranks.size() == 1 || !outlier.node.empty();
    const std::string who = format_ranks_of(report_, outlier.ranks, outlier.node);
    finding.id = finding_id(finding.kind, who, fmt::format("{}\n{}", who, name_of(outlier.quantity)));
    finding.sentence =
        fmt::format("{} {} {}", capitalised(who), verb(outlier.quantity, is_one), how_long(outlier));
    if (outlier.is_of_track) finding.sentence += " in the thread that communicates";
    if (outlier.bytes_ratio) finding.sentence += ", " + how_many_bytes(*outlier.bytes_ratio);
    if (outlier.location != kNone) finding.sentence += ", mostly in " + location(outlier.location);
    if (outlier.awaited_in != kNone)
      finding.sentence += fmt::format("; the others wait {} longer in {}", format_duration(outlier.awaited_s),
                                      location(outlier.awaited_in));
    finding.sentence += ".";
    if (outlier.location != kNone) add_subject(finding, "slow", outlier.location);
    if (outlier.awaited_in != kNone) add_context(finding, "waits", outlier.awaited_in);
    finding.advice =
        outlier.node.empty()
            ? fmt::format("Give {} less work, or find what slows it down: its data, its core or its device.",
                          is_one ? "this rank" : "these ranks")
            : "Check the node: the clock of its processor, a badly seated device, other programs that run "
              "there.";
    finding.values = {{"ranks", static_cast<double>(outlier.ranks.size())},
                      {"seconds", outlier.seconds},
                      {"median_s", outlier.median},
                      {"others_wait_s", outlier.awaited_s},
                      {"first_rank", static_cast<double>(report_.costs.ranks[outlier.ranks.front()].rank)}};
    if (outlier.bytes_ratio) finding.values["bytes_ratio"] = *outlier.bytes_ratio;
  }

  void add(const RankImbalance& imbalance) {
    Finding& finding = start(FindingKind::LoadImbalance, imbalance.avoidable);
    const std::string late = format_ranks_of(report_, imbalance.late);
    finding.id = finding_id(finding.kind, late, late + "\n" + location(imbalance.location));
    finding.sentence = fmt::format(
        "Ranks wait {} on average ({} of their time) in {}, for {}", format_duration(imbalance.seconds),
        format_percent(imbalance.seconds / report_.track.mean), location(imbalance.location), late);
    if (imbalance.blamed != kNone)
      finding.sentence +=
          fmt::format(", which spend{} {} more than the others in {}", imbalance.late.size() == 1 ? "s" : "",
                      format_duration(imbalance.blamed_s), location(imbalance.blamed));
    finding.sentence += ".";
    add_context(finding, "waits", imbalance.location);
    if (imbalance.blamed != kNone) {
      add_subject(finding, "late", imbalance.blamed);
      finding.advice =
          fmt::format("Divide the work of {} more evenly among the ranks.", location(imbalance.blamed));
    } else if (imbalance.late_sleep) {
      finding.advice =
          fmt::format("Measure with -e REALTIME: CPU time does not show what {} meanwhile.",
                      imbalance.late.size() == 1 ? "this rank waits for" : "these ranks wait for");
    }
    finding.values = {{"wait_s", imbalance.seconds},
                      {"late_ranks", static_cast<double>(imbalance.late.size())},
                      {"late_spend_s", imbalance.blamed_s},
                      {"first_rank", static_cast<double>(report_.costs.ranks[imbalance.late.front()].rank)}};
  }

  void add(const LateRanks& late) {
    Finding& finding = start(FindingKind::LateByTurns, report_.late_by_turns_s);
    finding.sentence = fmt::format(
        "Ranks wait {} on average ({} of their time) for others that are late alternately, and meanwhile are "
        "in",
        format_duration(report_.late_by_turns_s),
        format_percent(report_.late_by_turns_s / report_.track.mean));
    size_t named = 1;
    while (named < std::min(late.locations.size(), kMaxLocations) &&
           late.locations[named].seconds >= kLocationWorthNaming * late.blamed_s)
      ++named;
    for (size_t i = 0; i < named; ++i) {
      finding.sentence += fmt::format("{}{} ({})",
                                      i == 0           ? " "
                                      : i + 1 == named ? " and "
                                                       : ", ",
                                      location(late.locations[i].location),
                                      format_percent(late.locations[i].seconds / late.blamed_s));
      add_subject(finding, "late", late.locations[i].location);
    }
    finding.sentence += ".";
    finding.advice = fmt::format(
        "Divide the work of {} more evenly among the ranks in each step, or let ranks continue without "
        "waiting.",
        location(late.locations.front().location));
    finding.values = {
        {"wait_s", report_.late_by_turns_s}, {"blamed_s", late.blamed_s}, {"nobody_s", late.nobody_s}};
  }

  const CallTree& tree_;
  const RankReport& report_;
  const double typical_;
  std::vector<Finding> findings_;
};

}  // namespace

std::vector<Finding> rank_findings(const CallTree& tree, const RankReport& report) {
  std::vector<Finding> findings;
  add_findings(findings, RankFindings(tree, report).all());
  return findings;
}

}  // namespace prof
