#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <numeric>

#include "tests/export/exported.h"
#include "tests/report/database_builder.h"

using namespace prof;
using namespace prof::test;

namespace {

constexpr uint64_t kStretchNs = 1000;

// A thread that alternates between two functions.
Database alternating(uint64_t stretches) {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t thread = b.thread(0);
  b.spend(thread, {{"f", 1}}, 1);
  b.spend(thread, {{"g", 1}}, 2);
  Database database = b.build();
  std::vector<uint32_t> costly;
  for (const ProfileValue& value : database.profiles[0].values)
    if (value.values.point > 0) costly.push_back(value.context);
  database.traces.push_back([=, next = uint64_t{0}](std::vector<TraceRecord>& block) mutable {
    block.clear();
    if (next > stretches) {
      next = 0;
      return false;
    }
    for (uint64_t end = std::min(next + 10'000, stretches + 1); next < end; ++next)
      block.push_back({(next + 1) * kStretchNs, next == stretches ? kNone : costly[next % costly.size()]});
    return true;
  });
  return database;
}

nlohmann::json over_time(uint64_t stretches) {
  const auto whole = nlohmann::json::parse(exported(alternating(stretches), ExportFormat::Speedscope).text);
  for (const auto& profile : whole["profiles"])
    if (std::string(profile["name"]).starts_with("over time")) return profile;
  return {};
}

}  // namespace

TEST_CASE("every change of the call path over time is shown while there are at most a million") {
  const nlohmann::json profile = over_time(1'000'000);
  CHECK(profile["weights"].size() == 1'000'000);
  CHECK(profile["weights"][0] == kStretchNs);
  CHECK(profile["endValue"] == 1'000'000 * kStretchNs);
}

TEST_CASE("more of them are shown in steps that take as long in all") {
  const nlohmann::json profile = over_time(2'500'000);
  CHECK(profile["weights"].size() <= 1'000'000);
  CHECK(profile["weights"].size() > 500'000);
  CHECK(profile["samples"].size() == profile["weights"].size());
  CHECK(profile["endValue"] == 2'500'000 * kStretchNs);
  const auto sum = std::accumulate(
      profile["weights"].begin(), profile["weights"].end(), uint64_t{0},
      [](uint64_t total, const nlohmann::json& weight) { return total + weight.get<uint64_t>(); });
  CHECK(sum == 2'500'000 * kStretchNs);
}
