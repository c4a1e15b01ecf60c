#include "tests/bench/made_records.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/measurement/recorder.h"

namespace prof::test {

namespace {

constexpr uint64_t kBetweenStarts = 7'000'000'000;
constexpr int64_t kFarthestBehind = 20'000'000, kError = 30'000;
constexpr uint64_t kNsPerSecond = 1'000'000'000, kPartsLost = 1'000'000;

void write(const std::filesystem::path& file, const nlohmann::ordered_json& record) {
  std::ofstream(file) << record.dump(2) << '\n';
}

}  // namespace

NodeTime time_of_node(uint32_t node) {
  const int64_t behind = node == 0 ? 0 : 1 + int64_t{node} * 7'919'000 % kFarthestBehind;
  return {kStartMonotonic + node * kBetweenStarts, kStartRealtime - static_cast<uint64_t>(behind), behind};
}

void write_rank_record(const std::filesystem::path& directory, int rank, const std::string& command,
                       const std::string& host, const NodeTime& time, uint64_t length_ns) {
  const double seconds = static_cast<double>(length_ns) / static_cast<double>(kNsPerSecond);
  const auto start = static_cast<std::time_t>(time.start_realtime_ns / kNsPerSecond);
  write(directory / (rank < 0 ? "run.json" : fmt::format("run-{}.json", rank)),
        {{"command", {command}},
         {"host", host},
         {"start", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(start))},
         {"wall_s", seconds},
         {"cpu_s", seconds},
         {"exit_status", 0},
         {"signal", 0},
         {"pid", 1000 + std::max(rank, 0)},
         {"end_monotonic_ns", time.start_monotonic_ns + length_ns},
         {"trigger_cost_s", 2e-6}});
}

void write_clock(const std::filesystem::path& directory, const std::string& host, const std::string& first,
                 const NodeTime& time, uint64_t length_ns) {
  const auto comparison = [&](uint64_t after_ns) {
    return nlohmann::ordered_json{{"offset_ns", time.behind_ns + static_cast<int64_t>(after_ns / kPartsLost)},
                                  {"error_ns", kError},
                                  {"realtime_ns", time.start_realtime_ns + after_ns},
                                  {"monotonic_ns", time.start_monotonic_ns + after_ns}};
  };
  write(directory / fmt::format("clock-{}.json", host),
        {{"host", host}, {"reference", first}, {"begin", comparison(0)}, {"end", comparison(length_ns)}});
}

}  // namespace prof::test
