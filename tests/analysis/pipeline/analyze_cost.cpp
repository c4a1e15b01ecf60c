// analyze_cost DIR JOBS: analyzes a measurement directory into DIR/database and prints what that took.
// make_measurement writes directories of any size.

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "analysis/database/database.h"
#include "analysis/pipeline/pipeline.h"

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1000;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: analyze_cost DIR JOBS\n");
    return 2;
  }
  const std::filesystem::path directory = argv[1];
  prof::AnalyzeOptions options;
  options.jobs = std::atoi(argv[2]);
  try {
    const auto start = std::chrono::steady_clock::now();
    const prof::Analysis analysis = prof::analyze({directory}, options);
    const prof::Database& database = analysis.database;
    fmt::print("analyzed in {:.2f} s, peak {:.0f} MB: {} contexts, {} functions, {} profiles\n",
               seconds_since(start), peak_megabytes(), database.contexts.size(), database.functions.size(),
               database.profiles.size());
    prof::write_database(database, directory / "database");
    fmt::print("written as well in {:.2f} s in all, peak {:.0f} MB\n", seconds_since(start),
               peak_megabytes());
    for (const std::string& warning : analysis.warnings) fmt::print("{}\n", warning);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "analyze_cost: %s\n", error.what());
    return 1;
  }
  return 0;
}
