#pragma once
// A run with stores and loads that were wasted.

#include <nlohmann/json.hpp>

#include "tests/analysis/database/run_text.h"
#include "tests/report/example.h"

namespace prof::test {

// Returns the context of a line. Fails if the line has no context.
inline uint32_t context_at(const Database& database, uint32_t line) {
  for (uint32_t c = 0; c < database.contexts.size(); ++c)
    if (database.contexts[c].kind == ContextKind::Line && database.contexts[c].line == line) return c;
  throw std::out_of_range("no such line");
}

inline nlohmann::json waste_total(const char* kind, uint64_t checked, uint64_t wasted, uint64_t undecided) {
  return {{"kind", kind},           {"checked_count", checked},   {"checked_bytes", checked * 8},
          {"wasted_count", wasted}, {"wasted_bytes", wasted * 8}, {"undecided_count", undecided}};
}

inline nlohmann::json waste_pair(const char* kind, uint32_t first, uint32_t second, uint64_t count) {
  return {{"kind", kind},   {"first", first},     {"second", second},  {"frame_ended", false},
          {"count", count}, {"bytes", count * 8}, {"access_bytes", 8}, {"allocation", 0},
          {"name", ""},     {"declared", ""},     {"on_stack", false}};
}

// Returns a run in which 19 % of the bytes written were dead, and 10 % silent; 30 % of those loaded,
// redundant.
inline Database wasting(bool is_exact = false) {
  Database database = example();
  nlohmann::json run = run_of(database);
  const uint32_t slow = context_at(database, 14), fast = context_at(database, 23);
  const uint32_t worker = context_at(database, 25);
  nlohmann::json dead = waste_pair("dead-store", slow, fast, 150);
  dead["name"] = "quadrant[]";
  dead["declared"] = "sum.cpp:5";
  nlohmann::json ended = waste_pair("dead-store", slow, slow, 40);
  ended["frame_ended"] = ended["on_stack"] = true;
  nlohmann::json silent = waste_pair("silent-store", fast, fast, 80);
  silent["allocation"] = worker;
  const nlohmann::json redundant = waste_pair("redundant-load", slow, slow, 300);
  const nlohmann::json rare = waste_pair("dead-store", fast, slow, 4);
  run["memory_waste"] = {
      {"is_exact", is_exact},
      {"totals",
       {waste_total("dead-store", 1000, 194, is_exact ? 0 : 50), waste_total("silent-store", 800, 80, 0),
        waste_total("redundant-load", 1000, 300, 0)}},
      {"pairs", {redundant, dead, silent, ended, rare}}};
  set_run(database, run);
  return database;
}

}  // namespace prof::test
