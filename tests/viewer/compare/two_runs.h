#pragma once
// Two runs of a program with known differences. The second one was rebuilt, with other addresses and lines.

#include "analysis/database/model.h"
#include "tests/report/database_builder.h"

namespace prof::test {

// Returns a run of 10 s: work 4 s itself, and calls leaf for 3 s; old_name 2 s; rest 1 s in another thread.
inline Database run_before() {
  DatabaseBuilder builder;
  builder.metric("CPUTIME", "sec");
  builder.metric("FAULTS", "");
  builder.thread(0, "main");
  builder.thread(1, "worker");
  for (const char* const name : {"main", "work", "leaf", "old_name", "rest"})
    builder.function(name, "sum.cpp", "/a/sum", 1);
  builder.spend(0, {{"main", 10}, {"work", 20}}, 4);
  builder.spend(0, {{"main", 10}, {"work", 21}, {"leaf", 40}}, 3);
  builder.spend(0, {{"main", 11}, {"old_name", 50}}, 2);
  builder.spend(1, {{"main", 12}, {"rest", 60}}, 1);
  builder.spend(1, {{"main", 12}, {"rest", 60}}, 100, 1);
  return builder.build();
}

// Returns a run of 20 s: work 12 s itself, leaf 1.5 s, new_name 5.5 s; rest 1 s.
inline Database run_after() {
  DatabaseBuilder builder;
  builder.metric("FAULTS", "");
  builder.metric("CPUTIME", "sec");
  builder.thread(0, "main");
  builder.thread(1, "worker");
  for (const char* const name : {"rest", "new_name", "leaf", "work", "main"})
    builder.function(name, "sum.cpp", "/b/sum", 5);
  builder.spend(0, {{"main", 110}, {"work", 120}}, 12, 1);
  builder.spend(0, {{"main", 110}, {"work", 121}, {"leaf", 140}}, 1.5, 1);
  builder.spend(0, {{"main", 111}, {"new_name", 150}}, 5.5, 1);
  builder.spend(1, {{"main", 112}, {"rest", 160}}, 1, 1);
  builder.spend(1, {{"main", 112}, {"rest", 160}}, 50, 0);
  return builder.build();
}

}  // namespace prof::test
