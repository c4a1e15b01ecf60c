#pragma once
// A run with two threads that contend for elements of one array.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/database/run_text.h"
#include "tests/report/database_builder.h"

namespace prof::test {

inline uint32_t leaf_of(const Database& database, const std::string& function) {
  for (uint32_t c = 0; c < database.contexts.size(); ++c) {
    const Context& line = database.contexts[c];
    if (line.kind != ContextKind::Line || line.parent == kNone) continue;
    const uint32_t at = database.contexts[line.parent].function;
    if (at != kNone && database.functions[at].name == function) return c;
  }
  return kNone;
}

// Returns two threads in elements of one array; `sides` describes what they do there.
inline Database counting(nlohmann::json (*sides)(uint32_t first, uint32_t second)) {
  DatabaseBuilder b;
  b.function("count_first(unsigned long)", "count.cpp", "/home/me/count", 3);
  b.function("count_second(unsigned long)", "count.cpp", "/home/me/count", 9);
  b.metric("CPUTIME", "sec");
  b.spend(b.thread(0, "count"), {{"count_first(unsigned long)", 4}}, 1);
  b.spend(b.thread(1, "count"), {{"count_second(unsigned long)", 10}}, 1);
  Database database = b.build();
  nlohmann::json record = {{"host", "node"},
                           {"rank", -1},
                           {"process", 7},
                           {"sharing", "false"},
                           {"kind", "variable"},
                           {"name", "counters"},
                           {"type", "Counter[2]"},
                           {"declared", "count.cpp:1"},
                           {"address", 64},
                           {"bytes", 16},
                           {"lines", 1},
                           {"weight_s", 1.5},
                           {"false_moves", 90.0},
                           {"true_moves", 0.0},
                           {"adjacent_moves", 0.0},
                           {"remedy", "pad-elements"},
                           {"advice", "Put each element on its own cache lines."}};
  record["bytes_after"] = 128;
  record["changes"] = {{{"what", "type"},
                        {"name", ""},
                        {"type", "struct Counter"},
                        {"text", ""},
                        {"file", "/home/me/count.cpp"},
                        {"line", 1},
                        {"alignas", 64},
                        {"text", "alignas(64)"},
                        {"bytes_before", 8},
                        {"bytes_after", 64}}};
  record["sides"] = sides(leaf_of(database, "count_first(unsigned long)"),
                          leaf_of(database, "count_second(unsigned long)"));
  set_run(database,
          nlohmann::json{{"run", {{"command", "./count"}, {"cpu_s", 2.0}}}, {"contention", {record}}});
  return database;
}

inline nlohmann::json side(uint32_t profile, const char* place, const char* access, uint64_t offset,
                           uint32_t context) {
  return {{"profile", profile},    {"place", place}, {"access", access}, {"offset", offset},  {"bytes", 8},
          {"line_offset", offset}, {"accesses", 40}, {"weight_s", 0.5},  {"context", context}};
}

inline nlohmann::json both_sides(uint32_t first, uint32_t second) {
  return {side(0, "[0].hits", "reads", 0, first), side(0, "[0].hits", "writes", 0, first),
          side(1, "[1].hits", "reads and writes", 8, second)};
}

}  // namespace prof::test
