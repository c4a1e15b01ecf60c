// Every report of a database whose values are read on demand equals that of a database read at once.

#include <catch2/catch.hpp>

#include "analysis/database/database.h"
#include "analysis/views/tree/own_costs.h"
#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/files.h"
#include "tests/report/database_builder.h"
#include "tests/report/rendered.h"
#include "tests/report/stalled_ranks.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr ReportView kViews[] = {
    ReportView::Summary, ReportView::TopDown, ReportView::BottomUp, ReportView::Flat,
    ReportView::Lines,   ReportView::Devices, ReportView::Idleness, ReportView::Contention,
    ReportView::Locks,   ReportView::Ranks,   ReportView::Stalls,   ReportView::MemoryWaste,
};

std::string text_of(const Database& database, const ReportOptions& options) {
  try {
    return rendered(database, options).text;
  } catch (const std::exception& error) {
    return std::string("refused: ") + error.what();
  }
}

void compare_reports(const std::filesystem::path& directory) {
  const Database now = read_database(directory);
  const Database asked = read_database(directory, ReadValues::WhenAskedFor);
  REQUIRE(asked.stored);
  size_t length = 0;
  for (const ReportView view : kViews) {
    for (const ReportFormat format : {ReportFormat::Text, ReportFormat::Json}) {
      for (const bool merges : {false, true}) {
        for (const std::vector<std::string>& threads : {std::vector<std::string>{}, {"0.0"}, {"0.*"}}) {
          ReportOptions options;
          options.view = view;
          options.format = format;
          options.merge_recursion = merges;
          options.threads = threads;
          options.threshold_percent = 0;
          options.statistics = true;
          options.columns = 0;
          CAPTURE(static_cast<int>(view), static_cast<int>(format), merges, threads.size());
          const std::string text = text_of(asked, options);
          CHECK(text == text_of(now, options));
          length += text.size();
        }
      }
    }
  }
  CHECK(length > 1000);
  for (uint32_t metric = 0; metric < now.metrics.size(); ++metric)
    CHECK(own_costs(asked, metric) == own_costs(now, metric));
}

// Ranks with recursion and two metrics, of which the first one does not have all functions.
Database recursing_ranks() {
  DatabaseBuilder b;
  for (const char* const name : {"a", "b", "c", "MPI_Barrier"})
    b.function(name, "work.cpp", "/home/me/team", 3);
  const uint32_t time = b.metric("CPUTIME", "sec"), bytes = b.metric("ALLOCATED", "bytes");
  for (int32_t rank = 0; rank < 6; ++rank) {
    const uint32_t thread = b.thread(0, "", rank);
    b.spend(thread, {{"a", 1}, {"b", 2}, {"a", 3}, {"b", 2 + static_cast<uint32_t>(rank)}}, 1 + rank, time);
    b.spend(thread, {{"a", 1}, {"MPI_Barrier", 9}}, rank == 3 ? 4 : 0.5, time);
    b.spend(thread, {{"a", 1}, {"c", 7}}, 100 * rank, bytes);
  }
  return b.build();
}

}  // namespace

TEST_CASE("reports are the same when values are read as they are asked for") {
  const TemporaryDirectory folder;
  write_database(recursing_ranks(), folder.path() / "ranks");
  compare_reports(folder.path() / "ranks");
  write_database(known_database(), folder.path() / "known");
  compare_reports(folder.path() / "known");
  write_database(stalled_ranks(), folder.path() / "stalled");
  compare_reports(folder.path() / "stalled");
}
