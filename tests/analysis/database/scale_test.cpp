// A database with the size of a long run on many cores, for timing by hand: `test_database [.scale]`.

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>

#include "analysis/database/database.h"
#include "analysis/database/summaries.h"
#include "tests/analysis/database/files.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint32_t kContexts = 100'000, kThreads = 2;
constexpr uint64_t kRecords = 10'000'000;  // per thread

TraceSource generated_trace(uint64_t records) {
  return [next = uint64_t{0}, records](std::vector<TraceRecord>& block) mutable {
    block.clear();
    for (; next < records && block.size() < 65536; ++next) {
      block.push_back({next * 250'000, static_cast<uint32_t>(next * 2654435761u % kContexts)});
    }
    return !block.empty();
  };
}

Database large_database() {
  Database database;
  database.title = "large";
  database.metrics = {{"CPUTIME", "sec", ""}};
  database.modules = {{"/bin/large"}};
  database.files = {{"/src/large.cpp", false}};
  for (uint32_t i = 0; i < 5000; ++i)
    database.functions.push_back({"function_" + std::to_string(i), 0, i * 64, 0, i});
  for (uint32_t i = 0; i < kContexts; ++i) {
    Context context;
    if (i == 0) {
      context.kind = ContextKind::Entry;
      context.entry = "main thread";
    } else {
      context.parent = i / 3;
      context.function = i % 5000;
    }
    database.contexts.push_back(context);
  }
  for (uint32_t t = 0; t < kThreads; ++t) {
    Profile& profile = database.profiles.emplace_back();
    profile.id = {"node", -1, 1, static_cast<int32_t>(t), ""};
    for (uint32_t i = 0; i < kContexts; ++i)
      profile.values.push_back({i, 0, {1e-3, 2e-3 * (kContexts - i), 1e-3}});
    database.traces.push_back(generated_trace(kRecords));
  }
  database.summaries = summarize(database);
  return database;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("2 threads with 10 million samples each in 100 thousand contexts", "[.scale]") {
  const TemporaryDirectory directory;
  const Database database = large_database();
  auto start = std::chrono::steady_clock::now();
  write_database(database, directory.path() / "database");
  std::printf("write: %.2f s\n", seconds_since(start));
  for (const char* file : {"meta.db", "profile.db", "cct.db", "trace.db"}) {
    std::printf("  %s: %.1f MB\n", file,
                static_cast<double>(std::filesystem::file_size(directory.path() / "database" / file)) / 1e6);
  }
  start = std::chrono::steady_clock::now();
  const Database read = read_database(directory.path() / "database");
  std::printf("read: %.2f s\n", seconds_since(start));
  start = std::chrono::steady_clock::now();
  uint64_t records = 0;
  std::vector<TraceRecord> block;
  for (const TraceSource& trace : read.traces) {
    while (trace(block)) records += block.size();
  }
  std::printf("read traces: %.2f s\n", seconds_since(start));
  CHECK(records == kThreads * kRecords);
  CHECK(read.contexts.size() == kContexts);
}
