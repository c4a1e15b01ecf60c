#pragma once
// Merges several runs before and after a change into one call tree, which `prof diff` compares. Each run is
// matched with the previous ones (matching.h), and its database is not kept.

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
  std::vector<double> own;  // exclusive cost per context of the database
};

struct MatchedRuns {
  // Merges all runs, without profiles. Code without names is one function per module. Compiler-made copies of
  // a function count as that function, because both differ from build to build.
  Database database;
  uint32_t metric = 0;  // into Database::metrics
  std::vector<ComparedRun> runs;
  // One metric for each run, in their order. Refers to the database above, and must not be moved.
  CallTree tree;
  // The sources that the first run of each side has a copy of; per file of the database.
  std::vector<std::optional<SourceText>> sources_before, sources_after;

  const Metric& what() const { return database.metrics[metric]; }
};

class RunMatcher {
 public:
  // Returns the metric of this name; if the name is empty, the first one that the first run has.
  explicit RunMatcher(std::string metric) : metric_(std::move(metric)) {}

  // `path` is the database's directory or the one that contains it, for its sources. Throws SelectionError if
  // the run does not have the metric.
  void add(const Database& database, const std::string& name, const std::filesystem::path& path,
           bool is_after);

  // Writes everything that was added into `result`, which must stay in place.
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
