#include "analysis/pipeline/run_record.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string_view>

#include "analysis/pipeline/stored_files.h"

namespace prof {
namespace {

using Json = nlohmann::json;

constexpr double kMaxRunSeconds = 1e10;      // three centuries of one processor
constexpr double kMaxTriggerSeconds = 0.01;  // a hundred times the most expensive one measured
constexpr int64_t kLastStatus = 255;
constexpr int64_t kLastSignal = 64;

std::optional<double> number(const Json& record, const char* name, double most) {
  const auto at = record.find(name);
  if (at == record.end() || !at->is_number()) return std::nullopt;
  const auto value = at->get<double>();
  return value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::optional<std::string> text(const Json& record, const char* name) {
  const auto at = record.find(name);
  return at != record.end() && at->is_string() ? std::optional(at->get<std::string>()) : std::nullopt;
}

std::optional<int64_t> integer(const Json& record, const char* name, int64_t most) {
  const auto at = record.find(name);
  if (at == record.end() || !at->is_number_integer()) return std::nullopt;
  const auto value = at->get<int64_t>();
  return value >= 0 && value <= most ? std::optional(value) : std::nullopt;
}

std::vector<std::string> command(const Json& record) {
  const auto at = record.find("command");
  if (at == record.end() || !at->is_array()) return {};
  if (!std::ranges::all_of(*at, [](const Json& argument) { return argument.is_string(); })) return {};
  return at->get<std::vector<std::string>>();
}

// Parses local time with its offset from UTC.
std::optional<int64_t> start(const Json& record) {
  const std::optional<std::string> at = text(record, "start");
  std::tm time{};
  if (!at) return std::nullopt;
  const char* const end = strptime(at->c_str(), "%Y-%m-%dT%H:%M:%S%z", &time);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const int64_t offset = time.tm_gmtoff;  // timegm() resets it
  return timegm(&time) - offset;
}

// A file is empty if its rank was killed during the comparison.
bool is_clock_file(const StoredFile& file) {
  const std::string name = file.path.filename().string();
  if (!name.starts_with("clock-") || !name.ends_with(".json")) return false;
  const std::optional<std::string> text = contents_of(file);
  if (!text) return false;
  if (text->empty()) return true;
  const auto record = Json::parse(*text, nullptr, false);
  return record.is_object() && record.contains("host") && record.contains("reference");
}

template <typename Predicate>
std::vector<StoredFile> files_that(const std::filesystem::path& directory, const Predicate& are) {
  std::vector<StoredFile> files = stored_files(directory).files;
  std::erase_if(files, [&](const StoredFile& file) { return !are(file); });
  return files;
}

RunRecord record_in(const std::optional<std::string>& contents) {
  const Json record = contents ? Json::parse(*contents, nullptr, false) : Json();
  if (!record.is_object()) return {};
  return {command(record),
          text(record, "host"),
          start(record),
          number(record, "wall_s", kMaxRunSeconds),
          number(record, "cpu_s", kMaxRunSeconds),
          integer(record, "exit_status", kLastStatus),
          integer(record, "signal", kLastSignal),
          number(record, "trigger_cost_s", kMaxTriggerSeconds),
          integer(record, "pid", INT32_MAX),
          integer(record, "end_monotonic_ns", INT64_MAX)};
}

}  // namespace

std::optional<int32_t> rank_of_record(const std::filesystem::path& file) {
  constexpr std::string_view kBegin = "run-", kEnd = ".json";
  const std::string name = file.filename().string();
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd)) return std::nullopt;
  const char* const first = name.data() + kBegin.size();
  const char* const last = name.data() + name.size() - kEnd.size();
  int32_t rank = 0;
  const auto [end, error] = std::from_chars(first, last, rank);
  return first < last && error == std::errc() && end == last && rank >= 0 ? std::optional(rank)
                                                                          : std::nullopt;
}

std::vector<StoredFile> rank_records(const std::filesystem::path& directory) {
  return files_that(directory, [](const StoredFile& file) { return rank_of_record(file.path).has_value(); });
}

std::vector<StoredFile> clock_files(const std::filesystem::path& directory) {
  return files_that(directory, is_clock_file);
}

std::vector<RankRecord> read_rank_records(const std::filesystem::path& directory) {
  std::vector<RankRecord> records;
  for (const StoredFile& file : rank_records(directory))
    records.push_back({*rank_of_record(file.path), record_in(contents_of(file))});
  std::ranges::stable_sort(records, {}, &RankRecord::rank);
  return records;
}

const RunRecord& DirectoryRecords::of(int32_t rank) const {
  const auto own = std::ranges::lower_bound(of_ranks, rank, {}, &RankRecord::rank);
  return own != of_ranks.end() && own->rank == rank ? own->record : run;
}

DirectoryRecords read_records(const std::filesystem::path& directory) {
  return {read_run_record(directory), read_rank_records(directory)};
}

RunRecord read_run_record(const std::filesystem::path& directory) {
  return read_record_file(directory / "run.json");
}

RunRecord read_record_file(const std::filesystem::path& file) {
  return record_in(contents_of(file));
}

}  // namespace prof
