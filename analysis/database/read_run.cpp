#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/database/read.h"
#include "analysis/database/run_file.h"
#include "analysis/database/statistics.h"
#include "analysis/database/utf8.h"
#include "analysis/run/run_json.h"

namespace prof {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaximumBytes = 256 << 20;  // at a hundred bytes per profile, enough for a million threads
// Our files have 5 levels. Writing a value recurses once per level, so a file must not determine the depth.
constexpr int kMaximumDepth = 64;

bool is_deeper_than(std::string_view json, int limit) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > limit) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

void read_metrics(const ordered_json& metrics, Database& database) {
  for (size_t i = 0; i < database.metrics.size(); ++i) {
    Metric& metric = database.metrics[i];
    Metric named{metrics.at(i).at("name"), metrics.at(i).at("unit"), metrics.at(i).at("description")};
    if (full_name(named) == full_name(metric)) metric = std::move(named);
  }
}

bool is_build_id(std::string_view text) {
  constexpr size_t kMaxDigits = 128;
  return text.size() <= kMaxDigits && text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Returns false if it is not the list of these modules.
bool read_modules(const ordered_json& modules, Database& database) {
  if (modules.size() != database.modules.size()) return false;
  for (size_t i = 0; i < database.modules.size(); ++i) {
    std::string build_id = modules.at(i).at("build_id");
    if (!is_build_id(build_id)) return false;
    database.modules[i].build_id = std::move(build_id);
  }
  return true;
}

void read_profiles(const ordered_json& profiles, Database& database) {
  for (size_t i = 0; i < database.profiles.size(); ++i) {
    const ordered_json& from = profiles.at(i);
    database.profiles[i].id = {.host = from.at("host"),
                               .rank = from.at("rank"),
                               .process = from.at("process"),
                               .thread = from.at("thread"),
                               .thread_name = from.at("name"),
                               .device = from.value("device", -1),
                               .queue = from.value("queue", -1)};
    database.profiles[i].samples = from.at("samples");
  }
}

}  // namespace

void read_run(const std::filesystem::path& directory, Database& database) {
  const std::filesystem::path path = directory / format::kRunFile;
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_text_file(path, kMaximumBytes);
  if (is_deeper_than(text, kMaximumDepth)) throw_corrupt(path, "JSON nested too deeply");
  try {
    const ordered_json file = ordered_json::parse(text);
    const std::string schema = file.at("schema");
    if (schema != kRunSchema) {
      throw DatabaseError(DatabaseError::Kind::WrongVersion,
                          fmt::format("{}: schema {}, but this prof reads {}; use the prof that wrote it",
                                      path.string(), valid_utf8(schema.substr(0, 64)), kRunSchema));
    }
    if (file.contains("summary"))
      database.run =
          run_in(nlohmann::json(file.at("summary")), {database.contexts.size(), database.profiles.size()});
    // Databases of older versions have no modules here.
    if (file.at("metrics").size() != database.metrics.size() ||
        file.at("profiles").size() != database.profiles.size() ||
        (file.contains("modules") && !read_modules(file.at("modules"), database))) {
      throw_corrupt(path, "it belongs to another database");
    }
    read_metrics(file.at("metrics"), database);
    read_profiles(file.at("profiles"), database);
  } catch (const nlohmann::json::exception&) {
    throw_corrupt(path, "not JSON written by prof");
  }
}

}  // namespace prof
