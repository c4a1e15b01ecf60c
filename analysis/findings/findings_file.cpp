#include "analysis/findings/findings_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <utility>

#include "analysis/database/database.h"
#include "analysis/database/format.h"
#include "analysis/database/sqlite_file.h"
#include "analysis/files/folder.h"
#include "analysis/findings/all_findings.h"
#include "analysis/findings/finding_json.h"
#include "analysis/views/run/overhead.h"

namespace prof {
namespace {

namespace fs = std::filesystem;

// Must change whenever readers have to be adapted.
constexpr char kCreate[] =
    "PRAGMA user_version = 1;"
    "CREATE TABLE finding (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, severity TEXT NOT NULL, metric TEXT, "
    "value REAL, unit TEXT, share_of_run REAL, sentence TEXT NOT NULL, advice TEXT, evidence TEXT NOT NULL)";

void bind_text(SqliteRows& row, int parameter, const std::string& text) {
  if (text.empty())
    row.bind_null(parameter);
  else
    row.bind(parameter, std::string_view(text));
}

void bind_cost(SqliteRows& row, const std::optional<FindingCost>& cost) {
  if (cost) {
    row.bind(4, cost->value);
    row.bind(5, std::string_view(cost->unit));
    row.bind(6, cost->share_of_run);
  } else {
    for (const int parameter : {4, 5, 6}) row.bind_null(parameter);
  }
}

void write_file(const std::vector<Finding>& findings, const fs::path& path) {
  const SqliteFile file(path, SqliteFile::Mode::Write);
  file.execute(kCreate);
  SqliteRows row = file.prepare("INSERT INTO finding VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  uint64_t id = 0;
  for (const Finding& finding : findings) {
    row.bind(0, ++id);
    row.bind(1, name_of(finding.kind));
    row.bind(2, name_of(finding.severity));
    bind_text(row, 3, finding.metric);
    bind_cost(row, finding.cost);
    row.bind(7, std::string_view(finding.sentence));
    bind_text(row, 8, finding.advice);
    row.bind(9, std::string_view(
                    finding_as_json(finding).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
    row.execute();
  }
  file.commit();
}

}  // namespace

void write_findings(const Database& database, const fs::path& directory, AnalysisWorkers& workers, int jobs) {
  // The summaries have all that was measured.
  Selection selection;
  if (workers.is_first()) selection = select(database, {}, {});
  RankOptions ranks{.jobs = jobs};
  if (workers.is_shared()) {
    workers.from_first(
        "metrics", [] {}, selection.metrics);
    for (const uint32_t metric : selection.metrics)
      workers.require(metric < database.metrics.size(), "metrics", 0, "it is of other metrics");
    ranks.counted = rank_costs_together(database, selection, workers, jobs);
  }
  if (!workers.is_first()) return;
  const CallTree tree = build_call_tree(database, selection, false);
  const std::vector<Finding> findings =
      all_findings(tree, run_summary_with_hooks(tree), StallOptions{}, std::move(ranks));
  const std::string name(format::kFindingsFile);
  const std::string unfinished = fmt::format("{}.writing-{}", name, ::getpid());
  try {
    const Folder folder(directory);
    folder.remove(unfinished);
    try {
      write_file(findings, directory / unfinished);
      folder.rename(unfinished, folder, name);
    } catch (...) {
      folder.remove(unfinished);
      throw;
    }
  } catch (const WriteError& error) {
    throw DatabaseError(DatabaseError::Kind::Unwritable, error.what());
  }
}

}  // namespace prof
