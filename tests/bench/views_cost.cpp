// Prints how long each view of a database with a million contexts takes. Not a test: run by hand.

#include <fmt/format.h>

#include <chrono>

#include "tests/bench/large_database.h"
#include "tests/report/rendered.h"

using namespace prof;

namespace {

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
  const Database database = test::large_database();
  measure(database, "summary text", ReportView::Summary, ReportFormat::Text, 1);
  measure(database, "top-down text, 1 %", ReportView::TopDown, ReportFormat::Text, 1);
  measure(database, "top-down json, 1 %", ReportView::TopDown, ReportFormat::Json, 1);
  measure(database, "top-down json, everything", ReportView::TopDown, ReportFormat::Json, 0);
  measure(database, "top-down csv, everything", ReportView::TopDown, ReportFormat::Csv, 0);
  measure(database, "bottom-up text, 1 %", ReportView::BottomUp, ReportFormat::Text, 1);
  measure(database, "bottom-up text, 0.01 %", ReportView::BottomUp, ReportFormat::Text, 0.01);
  measure(database, "flat text, 1 %", ReportView::Flat, ReportFormat::Text, 1);
}
