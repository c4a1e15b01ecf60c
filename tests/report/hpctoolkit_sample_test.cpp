// A database that HPCToolkit wrote for a small MPI program. It is not part of the project. If it is missing,
// these tests report that and pass.

#include <catch2/catch.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "analysis/database/database.h"
#include "tests/report/rendered.h"

using namespace prof;
using namespace prof::test;

namespace {

std::optional<Database> sample() {
  const std::filesystem::path folder =
      std::filesystem::path(PROF_SOURCE_DIR) / "../shared/data/hpctoolkit-v4-sample";
  if (std::filesystem::exists(folder / "meta.db")) return read_database(folder);
  std::cout << "skipped: no HPCToolkit database at " << folder << "\n";
  return std::nullopt;
}

nlohmann::json json_of(const Database& database, ReportView view, bool merge = false) {
  ReportOptions options;
  options.view = view;
  options.format = ReportFormat::Json;
  options.threshold_percent = 0;
  options.merge_recursion = merge;
  return nlohmann::json::parse(rendered(database, options).text);
}

}  // namespace

TEST_CASE("the main thread of HPCToolkit's sample has the time that Hatchet finds there") {
  const auto database = sample();
  if (!database) return;
  const nlohmann::json report = json_of(*database, ReportView::TopDown);
  const auto& root = report["rows"][0];
  CHECK(root["function"] == "main thread");
  CHECK(root["values"]["CPUTIME"]["inclusive"].get<double>() == Approx(0.281820).epsilon(1e-5));
}

TEST_CASE("folding HPCToolkit's contexts keeps every second of them") {
  const auto database = sample();
  if (!database) return;
  for (const ReportView view : {ReportView::TopDown, ReportView::Flat, ReportView::Lines}) {
    for (const bool merge : {false, true}) {
      CAPTURE(static_cast<int>(view), merge);
      const nlohmann::json report = json_of(*database, view, merge);
      const std::string metric = report["totals"].begin().key();
      double exclusive = 0;
      for (const auto& row : report["rows"]) exclusive += row["values"][metric]["exclusive"].get<double>();
      CHECK(exclusive == Approx(report["totals"][metric].get<double>()));
    }
  }
}

TEST_CASE("a summary of HPCToolkit's sample fits one screen and names its main program") {
  const auto database = sample();
  if (!database) return;
  const std::string text = rendered(*database, {}).text;
  CAPTURE(text);
  CHECK(lines_of(text).size() <= 24);
  CHECK(text.find("main") != std::string::npos);
  CHECK(text.find("nan") == std::string::npos);
}
