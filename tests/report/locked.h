#pragma once
// A run with a deadlock, whose threads wait for a lock and at a barrier, and in which one thread works while
// others are idle.

#include <nlohmann/json.hpp>

#include "tests/analysis/database/run_text.h"
#include "tests/report/example.h"

namespace prof::test {

inline nlohmann::json lock_side(uint32_t context, uint64_t count, double seconds) {
  return {{"context", context}, {"threads", 1},     {"count", count},
          {"seconds", seconds}, {"longest_s", 0.1}, {"open", 0}};
}

// Returns a run with one lock for which a thread waits while another has it, and a wait without a lock.
inline Database locked() {
  Database database = example();
  nlohmann::json run = run_of(database);
  nlohmann::json lock = {{"host", "build1"},       {"rank", -1},      {"process", 7},     {"kind", "mutex"},
                         {"name", "queue"},        {"address", 64},   {"objects", 1},     {"waits", 40},
                         {"waited_s", 2.0},        {"blamed_s", 1.5}, {"longest_s", 0.1}, {"open_s", 0.0},
                         {"declared", "sum.cpp:5"}};
  lock["waiters"] = nlohmann::json::array({lock_side(2, 40, 2.0)});
  lock["holders"] = nlohmann::json::array({lock_side(1, 30, 1.5)});
  nlohmann::json blocked = lock_side(2, 3, 0.5);
  blocked["kind"] = "barrier";
  run["locks"] = {{"locks", {lock}},
                  {"blocked", {blocked}},
                  {"idle", nlohmann::json::array()},
                  {"open", nlohmann::json::array()}};
  set_run(database, run);
  return database;
}

// The same with threads that were idle while another one worked, one that still waits, and two that wait for
// each other.
inline Database deadlocked() {
  Database database = locked();
  nlohmann::json run = run_of(database);
  run["locks"]["idle"] = {{{"context", 1},
                           {"threads", 1},
                           {"seconds", 6.0},
                           {"cpu_s", 3.0},
                           {"idle_cpu_s", 3.0},
                           {"idle_threads", 4.0},
                           {"working_threads", 2.0}}};
  nlohmann::json wait = {{"host", "build1"},  {"rank", -1},      {"process", 7},  {"thread", 11},
                         {"kind", "mutex"},   {"name", "other"}, {"address", 8},  {"context", 2},
                         {"seconds", 1.0},    {"holder", 12},    {"deadlock", 0}, {"thread_name", "a"},
                         {"holder_name", "b"}};
  run["locks"]["open"] = {wait};
  wait["name"] = "first";
  wait["deadlock"] = 1;
  run["locks"]["open"].push_back(wait);
  wait["name"] = "second";
  wait["thread"] = 12;
  wait["holder"] = 11;
  run["locks"]["open"].push_back(wait);
  set_run(database, run);
  return database;
}

}  // namespace prof::test
