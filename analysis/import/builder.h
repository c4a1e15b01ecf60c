#pragma once
// Builds a database from the call paths and values that importers read.

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

// The entry points of stacks, as `prof export` writes them. These names are not functions.
constexpr std::string_view kMainThread = "main thread", kOtherThread = "application thread";

// Describes the recorded run. Unknown values are unset.
struct ImportedRun {
  std::string command, host;
  std::optional<uint64_t> start_ns;  // since the epoch
  std::optional<double> wall_s, cpu_s;
  std::map<std::string, uint64_t> dropped;  // samples by reason
  std::map<std::string, uint64_t> complete, partial,
      broken;  // stacks by reason, if they were unwound here
  // Data that threads contended for, by numbers of profiles and contexts. Unset if contention was not
  // measured.
  std::optional<std::vector<ContendedRecord>> contention;
};

// A metric and how it was sampled.
struct ImportedMetric {
  std::string name;
  std::string unit;  // as Metric::unit
  std::string description;
  std::string source;  // what raised the samples
  double scale = 1;    // factor from added values to `unit`
  std::optional<double> requested_hz;
};

class DatabaseBuilder {
 public:
  explicit DatabaseBuilder(const std::string& title);
  DatabaseBuilder(const DatabaseBuilder&) = delete;

  // Equal arguments give the same number. Texts need not be UTF-8. An empty path gives kNone.
  uint32_t module(std::string_view path);
  uint32_t file(std::string_view path);
  uint32_t function(std::string_view name, uint32_t module, uint32_t file, uint32_t line);

  // Equal name and unit give the same metric.
  uint32_t metric(const ImportedMetric& metric);

  // Adds a profile. Returns its number.
  uint32_t profile(const ProfileId& id);

  // Returns the calling context tree that all profiles share. Its places are those of places().
  ContextTree& contexts() { return tree_; }
  PlaceTable& places() { return places_; }
  // For attributing addresses before any of the functions above is called.
  Database& database() { return database_; }

  // `value` must be finite, and small enough that squares of sums are finite.
  void add(uint32_t profile, uint32_t metric, uint32_t context, double value, uint64_t samples);
  // Records must be in the order of time.
  void add_trace(uint32_t profile, std::vector<TraceRecord> records);

  // Returns the complete database. The builder must not be used afterwards.
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
