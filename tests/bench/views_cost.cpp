// Prints how long each view of a database with a million contexts takes. Not a test: run by hand.

#include <fmt/format.h>

#include <chrono>
#include <random>

#include "tests/report/rendered.h"

using namespace prof;

namespace {

constexpr uint32_t kContexts = 1'000'000;
constexpr uint32_t kFunctions = 20'000;
constexpr uint32_t kThreads = 4;

Database large() {
  Database database;
  database.title = "large";
  database.metrics = {{"CPUTIME", "sec", ""}};
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
    // Odd contexts are functions, even ones the line in the function before them; callers are among the last
    // quarter of the lines, which gives paths of about a hundred frames.
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
  database.summaries.resize(kContexts);
  database.profiles.resize(kThreads);
  for (uint32_t p = 0; p < kThreads; ++p) database.profiles[p].id.thread = static_cast<int32_t>(p);
  for (uint32_t c = 0; c < kContexts; ++c) {
    database.summaries[c].sum = values[c];
    database.profiles[c % kThreads].values.push_back({c, 0, values[c]});
  }
  return database;
}

void measure(const Database& database, const char* name, ReportView view, ReportFormat format,
             double threshold) {
  ReportOptions options;
  options.view = view;
  options.format = format;
  options.threshold_percent = threshold;
  const auto start = std::chrono::steady_clock::now();
  const size_t bytes = test::rendered(database, options).text.size();
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  fmt::print("{:<36} {:6.3f} s {:>12} bytes\n", name, elapsed.count(), bytes);
}

}  // namespace

int main() {
  const Database database = large();
  measure(database, "summary text", ReportView::Summary, ReportFormat::Text, 1);
  measure(database, "top-down text, 1 %", ReportView::TopDown, ReportFormat::Text, 1);
  measure(database, "top-down json, 1 %", ReportView::TopDown, ReportFormat::Json, 1);
  measure(database, "top-down json, everything", ReportView::TopDown, ReportFormat::Json, 0);
  measure(database, "top-down csv, everything", ReportView::TopDown, ReportFormat::Csv, 0);
  measure(database, "bottom-up text, 1 %", ReportView::BottomUp, ReportFormat::Text, 1);
  measure(database, "bottom-up text, 0.01 %", ReportView::BottomUp, ReportFormat::Text, 0.01);
  measure(database, "flat text, 1 %", ReportView::Flat, ReportFormat::Text, 1);
}
