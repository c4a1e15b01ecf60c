#pragma once
// Puts a database together from call paths and values, as the importers find them.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analysis/database/model.h"
#include "analysis/pipeline/context_tree.h"
#include "analysis/pipeline/place_table.h"
#include "analysis/run/contended_record.h"

namespace prof {

// Where stacks begin, as `prof export` writes it: not functions, but entry points.
constexpr std::string_view kMainThread = "main thread", kOtherThread = "application thread";

// What is known of the run that was recorded; absent is what is not.
struct ImportedRun {
  std::string command, host;
  std::optional<uint64_t> start_ns;  // since the epoch
  std::optional<double> wall_s, cpu_s;
  std::map<std::string, uint64_t> dropped;  // samples by reason
  std::map<std::string, uint64_t> complete, partial,
      broken;  // stacks by reason, where they were unwound here
  // Data that threads contended for, by numbers of profiles and contexts; nothing where it was not looked
  // for.
  std::optional<std::vector<ContendedRecord>> contention;
};

// How a metric was sampled.
struct ImportedMetric {
  std::string name;
  std::string unit;  // as Metric::unit
  std::string description;
  std::string source;  // what raised the samples
  double scale = 1;    // of the values that are added, to get `unit`
  std::optional<double> requested_hz;
};

class DatabaseBuilder {
 public:
  explicit DatabaseBuilder(const std::string& title);
  DatabaseBuilder(const DatabaseBuilder&) = delete;

  // Equal ones get the same number. Texts need not be UTF-8; an empty path is kNone.
  uint32_t module(std::string_view path);
  uint32_t file(std::string_view path);
  uint32_t function(std::string_view name, uint32_t module, uint32_t file, uint32_t line);

  // Those of one name and unit are one metric.
  uint32_t metric(const ImportedMetric& metric);

  // A new profile; its number.
  uint32_t profile(const ProfileId& id);

  // The calling contexts, which all profiles share. Places are those of places().
  ContextTree& contexts() { return tree_; }
  PlaceTable& places() { return places_; }
  // For attributing addresses before any of the functions above is called.
  Database& database() { return database_; }

  // Finite, and small enough that squares of sums are finite.
  void add(uint32_t profile, uint32_t metric, uint32_t context, double value, uint64_t samples);
  // Records in order of time.
  void add_trace(uint32_t profile, std::vector<TraceRecord> records);

  // The whole; the builder is used up.
  Database finish(const ImportedRun& run, const std::vector<std::string>& warnings);

 private:
  struct MetricState {
    ImportedMetric metric;
    uint64_t samples = 0;
    double value = 0;  // scaled
  };

  void index_attributed();
  RunSummary summary_of(const ImportedRun& run, const std::vector<std::string>& warnings) const;

  Database database_;
  PlaceTable places_;
  ContextTree tree_;
  bool indexed_ = false;
  std::map<std::string, uint32_t, std::less<>> modules_, files_;
  std::map<std::tuple<std::string, uint32_t, uint32_t, uint32_t>, uint32_t> functions_;
  std::vector<MetricState> metrics_;
  std::vector<std::unordered_map<uint64_t, double>> values_;  // by profile, then context and metric
  std::vector<std::vector<TraceRecord>> traces_;
};

}  // namespace prof
