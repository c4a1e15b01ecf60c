// The ranks of a parallel program compared, as text, JSON and CSV (docs/cluster.md).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/findings/finding_json.h"
#include "analysis/findings/ranks.h"
#include "analysis/views/ranks/format_ranks.h"
#include "analysis/views/ranks/rank_report.h"
#include "analysis/words/numbers.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRankLabelColumns = 15;
constexpr size_t kNodeColumns = 14;
constexpr size_t kMaxRanks = 32;        // if there are more, those that differ most
constexpr double kNoDifference = 0.01;  // of a rank's time
constexpr size_t kShownClusters = 6;
constexpr size_t kShownLate = 5;

double of(const RankCost& rank, RankActivity activity) {
  return rank.by_activity[static_cast<size_t>(activity)];
}

std::string cluster_name(uint32_t cluster) {
  return std::string(1, static_cast<char>('A' + cluster));
}

class RanksText {
 public:
  RanksText(const CallTree& tree, const RunSummary& run, const RankReport& report, TextStyle style,
            Output& out)
      : tree_(tree), run_(run), report_(report), style_(style), out_(out) {}

  void write() {
    labelled("ranks", fmt::format("{}, by {}", format_ranks_and_nodes(report_),
                                  tree_.metric(report_.costs.metric).name));
    for (const RankStatistics& statistics : report_.statistics)
      if (statistics.maximum > 0)
        labelled(std::string(name_of(statistics.quantity)), format_statistics(statistics));
    for (const Note& note : run_.notes) labelled("note", note.text);
    if (report_.had_processor) labelled("note", format_lack_of_processors(report_));
    if (report_.would_need_traces)
      labelled("note",
               "whether ranks are late alternately is visible only in traces; measure with prof run --trace");
    out_.print("{}\n", bold(style_, "findings"));
    const std::vector<Finding> findings = rank_findings(tree_, report_);
    if (findings.empty()) out_.write("  none: no rank is slower than noise explains\n");
    for (const Finding& finding : findings) {
      out_.write(wrapped_behind("  * ", finding.sentence, style_));
      if (!finding.advice.empty()) out_.write(wrapped_behind("    Change: ", finding.advice, style_));
    }
    if (report_.late && !report_.late->locations.empty()) late(*report_.late);
    clusters();
    ranks();
  }

 private:
  void labelled(const char* label, const std::string& text) {
    out_.write(wrapped_behind(fmt::format("{:<{}}", label, kRankLabelColumns), text, style_));
  }
  void labelled(const std::string& label, const std::string& text) { labelled(label.c_str(), text); }

  void late(const LateRanks& late) {
    out_.print("{}\n",
               bold(style_, fmt::format("code in which ranks are late, of {} that other ranks wait for them",
                                        format_duration(late.blamed_s))));
    for (size_t i = 0; i < std::min(late.locations.size(), kShownLate); ++i)
      out_.write(wrapped_behind(
          fmt::format("{:>7} {:>9}  ", format_percent(late.locations[i].seconds / late.blamed_s),
                      format_duration(late.locations[i].seconds)),
          format_rank_location(tree_, report_.costs.locations[late.locations[i].location]), style_));
    if (late.nobody_s > 0)
      out_.print("  and {} in which all ranks wait: transfers, or time not measured\n",
                 format_duration(late.nobody_s));
  }

  void clusters() {
    out_.print("{}\n", bold(style_, "groups of ranks with similar profiles"));
    for (uint32_t c = 0; c < std::min(report_.clusters.size(), kShownClusters); ++c) {
      const RankCluster& cluster = report_.clusters[c];
      std::string text = fmt::format("{}: {} each", format_ranks_of(report_, cluster.ranks),
                                     format_duration(cluster.seconds));
      for (size_t i = 0; i < cluster.locations.size(); ++i)
        text += fmt::format(", {} in {}", format_percent(cluster.shares[i]),
                            format_rank_location(tree_, report_.costs.locations[cluster.locations[i]]));
      out_.write(wrapped_behind(fmt::format("  {}  ", cluster_name(c)), text, style_));
    }
    if (report_.clusters.size() > kShownClusters)
      out_.print("  and {}\n", format_count(report_.clusters.size() - kShownClusters, "more group"));
  }

  // Returns a rank's largest difference from the median among the quantities by which ranks are compared,
  // relative to the usual deviation.
  double difference(uint32_t index) const {
    const RankCost& rank = report_.costs.ranks[index];
    double most = 0;
    const auto add = [&](RankQuantity quantity, double seconds) {
      const RankStatistics& all = *report_.find(quantity);
      const double usual = all.deviation + kNoDifference * report_.track.median;
      if (usual > 0) most = std::max(most, std::abs(seconds - all.median) / usual);
    };
    for (const RankActivity activity : {RankActivity::Compute, RankActivity::Io, RankActivity::Device})
      add(quantity_of(activity), of(rank, activity));
    add(RankQuantity::Kernels, rank.kernels_s);
    add(RankQuantity::Copies, rank.copies_s);
    return most;
  }

  // Returns the shown ranks, sorted by rank.
  std::vector<uint32_t> shown_ranks() const {
    std::vector<uint32_t> shown;
    for (uint32_t r = 0; r < report_.costs.ranks.size(); ++r) shown.push_back(r);
    if (shown.size() <= kMaxRanks) return shown;
    std::ranges::stable_sort(shown, std::greater(), [&](uint32_t r) { return difference(r); });
    shown.resize(kMaxRanks);
    std::ranges::sort(shown);
    return shown;
  }

  void ranks() {
    const std::vector<uint32_t> shown = shown_ranks();
    const bool has_devices =
        report_.find(RankQuantity::Kernels)->maximum > 0 || report_.find(RankQuantity::Copies)->maximum > 0;
    out_.print("{}\n",
               bold(style_, fmt::format("{:>6}  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{}  group", "rank",
                                        "node", kNodeColumns, "time", "compute", "comm", "threads", "io",
                                        "device", has_devices ? "  kernels   copies" : "")));
    for (const uint32_t r : shown) {
      const RankCost& rank = report_.costs.ranks[r];
      const auto cell = [](double seconds) { return seconds > 0 ? format_duration(seconds) : "-"; };
      const std::string line =
          fmt::format("{:>6}  {:<{}}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{}  {}", rank.rank,
                      shorten_end(printable(rank.node), kNodeColumns - 1), kNodeColumns, cell(rank.seconds),
                      cell(of(rank, RankActivity::Compute)), cell(of(rank, RankActivity::Communication)),
                      cell(of(rank, RankActivity::Threads)), cell(of(rank, RankActivity::Io)),
                      cell(of(rank, RankActivity::Device)),
                      has_devices ? fmt::format("{:>9}{:>9}", cell(rank.kernels_s), cell(rank.copies_s)) : "",
                      cluster_name(report_.cluster_of[r]));
      out_.print("{}\n", line);
    }
    if (shown.size() < report_.costs.ranks.size())
      out_.print("  and {} that differ less (--format=csv has all)\n",
                 format_count(report_.costs.ranks.size() - shown.size(), "rank"));
  }

  const CallTree& tree_;
  const RunSummary& run_;
  const RankReport& report_;
  const TextStyle style_;
  Output& out_;
};

Json statistics_as_json(const RankStatistics& statistics) {
  return {{"name", name_of(statistics.quantity)},
          {"min", statistics.minimum},
          {"mean", statistics.mean},
          {"max", statistics.maximum},
          {"stddev", statistics.stddev},
          {"median", statistics.median},
          {"mad", statistics.deviation},
          {"imbalance", statistics.imbalance()}};
}

Json rank_as_json(const RankReport& report, uint32_t index) {
  const RankCost& rank = report.costs.ranks[index];
  Json json{{"rank", rank.rank}, {"node", rank.node}, {"threads", rank.threads}, {"time_s", rank.seconds}};
  if (report.find(RankQuantity::Cpu)->maximum > 0) json["cpu_s"] = rank.cpu_s;
  for (size_t a = 0; a < kRankActivities; ++a)
    json[std::string(name_of(quantity_of(static_cast<RankActivity>(a)))) + "_s"] = rank.by_activity[a];
  if (rank.uses_devices) {
    json["kernels_s"] = rank.kernels_s;
    json["copies_s"] = rank.copies_s;
    json["device_idle_s"] = rank.device_idle_s;
    if (rank.copied_bytes > 0) json["copied_bytes"] = rank.copied_bytes;
  }
  if (report.late) json["late_s"] = report.late->by_rank[index];
  json["group"] = report.cluster_of[index];
  return json;
}

Json cluster_as_json(const CallTree& tree, const RankReport& report, const RankCluster& cluster) {
  Json locations = Json::array(), ranks = Json::array();
  for (const uint32_t r : cluster.ranks) ranks.push_back(report.costs.ranks[r].rank);
  for (size_t i = 0; i < cluster.locations.size(); ++i) {
    const RankLocation& location = report.costs.locations[cluster.locations[i]];
    locations.push_back({{"place", format_rank_location(tree, location)},
                         {"activity", name_of(quantity_of(location.activity))},
                         {"share", cluster.shares[i]}});
  }
  return {{"ranks", std::move(ranks)}, {"time_s", cluster.seconds}, {"places", std::move(locations)}};
}

Json late_as_json(const CallTree& tree, const RankReport& report) {
  const LateRanks& late = *report.late;
  Json locations = Json::array();
  for (const LateRanks::Blame& blame : late.locations) {
    const RankLocation& location = report.costs.locations[blame.location];
    locations.push_back({{"place", format_rank_location(tree, location)},
                         {"activity", name_of(quantity_of(location.activity))},
                         {"blame_s", blame.seconds}});
  }
  return {{"waited_s", late.waited_s},
          {"blamed_s", late.blamed_s},
          {"nobody_s", late.nobody_s},
          {"places", std::move(locations)}};
}

}  // namespace

void ranks_as_text(const CallTree& tree, const RunSummary& run, const RankReport& report, TextStyle style,
                   Output& out) {
  RanksText(tree, run, report, style, out).write();
}

void ranks_as_json(const CallTree& tree, const RunSummary& run, const RankReport& report,
                   const ReportOptions& options, Output& out) {
  Json json{{"schema", "prof-report/1"}, {"view", "ranks"}, {"database", options.database}};
  const std::string& metric = tree.metric(report.costs.metric).name;
  json["metric"] = metric;
  json["units"] = {{metric, "sec"}};
  json["statistics"] = Json::array();
  for (const RankStatistics& statistics : report.statistics)
    json["statistics"].push_back(statistics_as_json(statistics));
  json["notes"] = sentences(run.notes);
  if (report.had_processor) {
    json["notes"].push_back(format_lack_of_processors(report));
    json["had_processor"] = *report.had_processor;
  }
  json["findings"] = findings_as_json(rank_findings(tree, report));
  json["groups"] = Json::array();
  for (const RankCluster& cluster : report.clusters)
    json["groups"].push_back(cluster_as_json(tree, report, cluster));
  if (report.late) json["late"] = late_as_json(tree, report);
  json["ranks"] = Json::array();
  for (uint32_t r = 0; r < report.costs.ranks.size(); ++r) json["ranks"].push_back(rank_as_json(report, r));
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void ranks_as_csv(const RankReport& report, Output& out) {
  out.write(
      "rank,node,threads,time (sec),cpu (sec),compute (sec),communication (sec),threads (sec),io (sec),"
      "device (sec),start (sec),kernels (sec),copies (sec),device idle (sec),late (sec),group\n");
  for (uint32_t r = 0; r < report.costs.ranks.size(); ++r) {
    const RankCost& rank = report.costs.ranks[r];
    out.print("{},{},{},{:.6f},{:.6f}", rank.rank, csv_field(rank.node), rank.threads, rank.seconds,
              rank.cpu_s);
    for (const double seconds : rank.by_activity) out.print(",{:.6f}", seconds);
    out.print(",{:.6f},{:.6f},{:.6f},", rank.kernels_s, rank.copies_s, rank.device_idle_s);
    if (report.late) out.print("{:.6f}", report.late->by_rank[r]);
    out.print(",{}\n", report.cluster_of[r]);
  }
}

}  // namespace prof
