#include "tests/viewer/trace/random_traces.h"

#include "tests/analysis/database/databases.h"

namespace prof::test {

Database traced_database(const std::vector<size_t>& records, uint32_t seed) {
  Database database = random_database(seed, {300, records.size(), 1, 0});
  std::mt19937 random(seed);
  const auto below = [&](uint64_t limit) {
    return std::uniform_int_distribution<uint64_t>(0, limit - 1)(random);
  };
  database.traces.resize(database.profiles.size());
  for (size_t row = 0; row < records.size(); ++row) {
    std::vector<TraceRecord> trace;
    uint64_t time = kTracesBegin + below(1'000'000);
    uint32_t context = 0;
    for (size_t i = 0; i < records[row]; ++i) {
      if (below(3) == 0) context = static_cast<uint32_t>(below(300));
      const bool is_idle = below(10) == 0 && (trace.empty() || trace.back().context != kNone);
      trace.push_back({time, is_idle ? kNone : context});
      const uint64_t kind = below(1000);
      if (kind == 0)
        time += below(20'000'000'000);  // blocks that contain this are wide
      else if (kind > 100)
        time += below(2'000'000);  // and some not at all
    }
    database.traces[row] = trace_of(std::move(trace));
  }
  return database;
}

std::vector<Segment> segments_of(const TraceSource& trace) {
  const std::vector<TraceRecord> records = records_of(trace);
  std::vector<Segment> segments;
  for (size_t i = 0; i + 1 < records.size(); ++i)
    segments.push_back({records[i].time_ns, records[i + 1].time_ns, records[i].context});
  return segments;
}

}  // namespace prof::test
