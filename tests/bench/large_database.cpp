#include "tests/bench/large_database.h"

#include <fmt/format.h>

#include <random>

#include "analysis/database/summaries.h"

namespace prof::test {

namespace {

constexpr uint32_t kContexts = 1'000'000;
constexpr uint32_t kFunctions = 20'000;
constexpr uint32_t kThreads = 4;

}  // namespace

Database large_database(uint32_t metrics) {
  Database database;
  database.title = "large";
  database.metrics = {{"CPUTIME", "sec", ""}};
  for (uint32_t m = 1; m < metrics; ++m) database.metrics.push_back({fmt::format("METRIC{}", m), "", ""});
  database.files = {{"large.cpp", false}};
  database.modules = {{"large"}};
  for (uint32_t f = 0; f < kFunctions; ++f)
    database.functions.push_back({fmt::format("function{}", f), 0, f, 0, f + 1});
  std::mt19937 engine(1);
  const auto random = [&engine](uint32_t below) { return static_cast<uint32_t>(engine() % below); };
  std::vector<double> point(kContexts);
  database.contexts.resize(kContexts);
  database.contexts[0] = {kNone, ContextKind::Entry, Relation::Enclosing, kNone, kNone, 0, kNone,
                          0,     "main thread"};
  for (uint32_t c = 1; c < kContexts; ++c) {
    Context& context = database.contexts[c];
    // Odd contexts are functions, even ones the line in the preceding function. Callers are among the last
    // quarter of the lines, which results in paths of about a hundred frames.
    context.parent = c % 2 == 0 ? c - 1 : c < 3 ? 0 : 2 * (c / 2 - random(c / 8 + 1));
    context.kind = c % 2 == 0 ? ContextKind::Line : ContextKind::Function;
    context.relation = c % 2 == 0 ? Relation::Enclosing : Relation::Call;
    if (c % 2 == 0) {
      context.file = 0;
      context.line = c % 1000 + 1;
      point[c] = 0.001 * static_cast<double>(random(100));
    } else {
      context.function = random(random(random(kFunctions) + 1) + 1);  // some are frequent
    }
  }
  std::vector<Values> values(kContexts);
  for (uint32_t c = kContexts; c-- > 0;) {
    values[c].point = point[c];
    values[c].exclusive += point[c];
    values[c].inclusive += point[c];
    const Context& context = database.contexts[c];
    if (context.parent == kNone) continue;
    values[context.parent].inclusive += values[c].inclusive;
    if (context.relation == Relation::Enclosing) values[context.parent].exclusive += values[c].exclusive;
  }
  database.profiles.resize(kThreads);
  for (uint32_t p = 0; p < kThreads; ++p) database.profiles[p].id.thread = static_cast<int32_t>(p);
  for (uint32_t c = 0; c < kContexts; ++c) {
    for (uint32_t m = 0; m < metrics; ++m) {
      const double times = m + 1;
      database.profiles[c % kThreads].values.push_back(
          {c, m, {times * values[c].exclusive, times * values[c].inclusive, times * values[c].point}});
    }
  }
  database.summaries = summarize(database);
  return database;
}

}  // namespace prof::test
