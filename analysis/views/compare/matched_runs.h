#pragma once
// Several runs before and after a change as one call tree: what `prof diff` compares. Each run is matched
// with those before it (matching.h), and its database is not kept.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/views/compare/source_text.h"
#include "analysis/views/tree/call_tree.h"

namespace prof {

struct ComparedRun {
  std::string name;  // as the user named it
  bool is_after = false;
  std::string title;   // the program's name
  double total = 0;    // of the metric, over all threads
  double samples = 0;  // of the metric; 0: not known
  uint64_t ranks = 0;  // 0: none
  uint64_t threads = 0;
  std::vector<double> own;  // per context of the database: spent there itself
};

struct MatchedRuns {
  // Of all runs, without profiles. Code without names is one function for each module, and copies that the
  // compiler made of a function are that function: neither is the same from build to build.
  Database database;
  uint32_t metric = 0;  // into Database::metrics
  std::vector<ComparedRun> runs;
  // One metric for each run, in their order. Refers to the database above: not to be moved.
  CallTree tree;
  // Sources as they were copied in the first run of each side that has them; per file of the database.
  std::vector<std::optional<SourceText>> sources_before, sources_after;

  const Metric& what() const { return database.metrics[metric]; }
};

class RunMatcher {
 public:
  // Of one metric: that of this name, or where it is empty the first one that the first run has.
  explicit RunMatcher(std::string metric) : metric_(std::move(metric)) {}

  // `path` is where the database is, or the directory that it is in, for its sources. Throws SelectionError
  // if the run does not have the metric.
  void add(const Database& database, const std::string& name, const std::filesystem::path& path,
           bool is_after);

  // Writes all that was added into `result`, which is to be used where it is.
  void finish(MatchedRuns& result);

 private:
  void note_sources(const Database& database, const std::filesystem::path& path,
                    const std::vector<uint32_t>& files, bool is_after);

  std::string metric_;
  uint32_t metric_of_all_ = kNone;
  bool is_first_ = true;
  Database all_;
  std::vector<ComparedRun> runs_;
  std::vector<std::vector<Cost>> costs_;  // per run and context
  std::vector<std::optional<SourceText>> before_, after_;
};

}  // namespace prof
