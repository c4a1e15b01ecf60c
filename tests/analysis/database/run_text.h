#pragma once
// The run of a database as JSON, for tests that write or change it.

#include <nlohmann/json.hpp>
#include <string>

#include "analysis/database/model.h"
#include "analysis/run/run_json.h"

namespace prof::test {

inline nlohmann::json run_of(const Database& database) {
  return database.run ? run_as_json(*database.run) : nlohmann::json();
}

// References to something that the database does not contain now are dropped.
inline void set_run(Database& database, const nlohmann::json& run) {
  database.run = run_in(run, {database.contexts.size(), database.profiles.size()});
}

inline void set_run_text(Database& database, const std::string& text) {
  set_run(database, nlohmann::json::parse(text, nullptr, false));
}

}  // namespace prof::test
