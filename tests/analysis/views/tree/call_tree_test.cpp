#include "analysis/views/tree/call_tree.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <iostream>

#include "analysis/views/tree/view.h"
#include "tests/report/database_builder.h"
#include "tests/report/example.h"

using namespace prof;
using namespace prof::test;

namespace {

struct ExpectedNode {
  std::string name;
  uint32_t depth;
  double inclusive, exclusive;
  uint32_t line;
};

void check_rows(const CallTree& tree, const View& view, const std::vector<ExpectedNode>& expected) {
  REQUIRE(view.rows.size() == expected.size());
  for (size_t r = 0; r < expected.size(); ++r) {
    CAPTURE(r, expected[r].name);
    CHECK(frame_name(*tree.database, tree.frames[view.rows[r].frame]) == expected[r].name);
    CHECK(view.rows[r].depth == expected[r].depth);
    CHECK(view.costs[r].inclusive == Approx(expected[r].inclusive));
    CHECK(view.costs[r].exclusive == Approx(expected[r].exclusive));
    CHECK(view.rows[r].location.line == expected[r].line);
  }
}

CallTree tree_of(const Database& database, bool merge = false, const std::vector<std::string>& threads = {}) {
  return build_call_tree(database, select(database, {}, threads), merge);
}

}  // namespace

TEST_CASE("top-down folds lines into functions and keeps each value exact") {
  const Database database = example();
  const CallTree tree = tree_of(database);
  CHECK(tree.totals == std::vector{8.0});
  check_rows(tree, top_down(tree, {}),
             {{"main thread", 0, 6.0, 0, 0},
              {"main", 1, 6.0, 0, 40},
              {"slow_sum", 2, 4.96, 4.96, 14},
              {"fast_sum", 2, 1.0, 0.25, 22},
              {"add", 3, 0.75, 0.75, 4},
              {"write", 2, 0.04, 0.04, 0},
              {"application thread", 0, 2.0, 0, 0},
              {"worker", 1, 2.0, 0, 25},
              {"fast_sum", 2, 2.0, 0, 22},
              {"add", 3, 2.0, 2.0, 4}});
}

TEST_CASE("a function called from two lines of one caller is one row") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"main", 3}, {"work", 9}}, 1);
  b.spend(t, {{"main", 4}, {"work", 9}}, 2);
  b.spend(t, {{"main", 4}, {"work", 9, true}}, 0.5);
  const Database database = b.build();
  const CallTree tree = tree_of(database);
  const View view = top_down(tree, {});
  check_rows(tree, view,
             {{"main thread", 0, 3.5, 0, 0},
              {"main", 1, 3.5, 0, 4},
              {"work", 2, 3, 3, 9},
              {"work", 2, 0.5, 0.5, 9}});
  CHECK_FALSE(view.rows[2].inlined);
  CHECK(view.rows[3].inlined);
}

TEST_CASE("the threshold leaves out what is below its share and keeps what is at it") {
  const Database database = example();
  const CallTree tree = tree_of(database);
  CHECK(top_down(tree, {1, 0, false}).rows.size() == 9);  // write has 0.5 %
  CHECK(top_down(tree, {0.5, 0, false}).rows.size() == 10);
  CHECK(top_down(tree, {75, 0, false}).rows.size() == 2);  // main has 75 %
  CHECK(top_down(tree, {100, 0, false}).rows.empty());
}

TEST_CASE("at most as many levels as asked for are shown") {
  const Database database = example();
  const CallTree tree = tree_of(database);
  CHECK(top_down(tree, {0, 1, false}).rows.size() == 2);
  CHECK(top_down(tree, {0, 2, false}).rows.size() == 4);
}

TEST_CASE("a thread filter shows the costs of those threads alone") {
  const Database database = example();
  const CallTree tree = tree_of(database, false, {"1"});
  check_rows(tree, top_down(tree, {}),
             {{"application thread", 0, 2.0, 0, 0},
              {"worker", 1, 2.0, 0, 25},
              {"fast_sum", 2, 2.0, 0, 22},
              {"add", 3, 2.0, 2.0, 4}});
}

TEST_CASE("merged recursion continues at the outermost frame of a function") {
  DatabaseBuilder b;
  b.metric("CPUTIME", "sec");
  const uint32_t t = b.thread(0);
  b.spend(t, {{"a", 1}, {"b", 2}, {"a", 3}, {"c", 4}}, 1);
  b.spend(t, {{"a", 1}, {"b", 2}}, 2);
  b.spend(t, {{"a", 1}, {"a", 5}}, 4);
  const Database database = b.build();
  const CallTree kept = tree_of(database), merged = tree_of(database, true);
  check_rows(kept, top_down(kept, {}),
             {{"main thread", 0, 7, 0, 0},
              {"a", 1, 7, 0, 1},
              {"a", 2, 4, 4, 5},
              {"b", 2, 3, 2, 2},
              {"a", 3, 1, 0, 3},
              {"c", 4, 1, 1, 4}});
  check_rows(merged, top_down(merged, {}),
             {{"main thread", 0, 7, 0, 0}, {"a", 1, 7, 4, 1}, {"b", 2, 2, 2, 2}, {"c", 2, 1, 1, 4}});
}

TEST_CASE("loops and instructions belong to their function, and code of no known function is a frame") {
  Database database;
  database.metrics = {{"CPUTIME", "sec", ""}};
  database.modules = {{"/lib/libx.so"}};
  database.files = {{"x.cpp", false}};
  database.functions = {{"f", 0, 0x10, kNone, 0}};
  const auto add = [&](uint32_t parent, ContextKind kind, Relation relation) -> Context& {
    Context context;
    context.parent = parent;
    context.kind = kind;
    context.relation = relation;
    database.contexts.push_back(context);
    return database.contexts.back();
  };
  add(kNone, ContextKind::Entry, Relation::Enclosing).entry = "main thread";
  add(0, ContextKind::Function, Relation::Call).function = 0;
  Context& loop = add(1, ContextKind::Loop, Relation::Enclosing);
  loop.file = 0;
  loop.line = 3;
  Context& line = add(2, ContextKind::Line, Relation::Enclosing);
  line.file = 0;
  line.line = 4;
  add(3, ContextKind::Instruction, Relation::Enclosing).module = 0;
  Context& stray = add(4, ContextKind::Instruction, Relation::Call);
  stray.module = 0;
  stray.offset = 0x99;
  database.summaries.resize(6);
  const double inclusive[] = {5, 5, 5, 5, 5, 2}, exclusive[] = {0, 3, 3, 3, 3, 2};
  for (size_t c = 0; c < 6; ++c) database.summaries[c].sum = {exclusive[c], inclusive[c], 0};
  const CallTree tree = tree_of(database);
  check_rows(tree, top_down(tree, {}),
             {{"main thread", 0, 5, 0, 0}, {"f", 1, 5, 3, 4}, {"libx.so+0x99", 2, 2, 2, 0}});
}

TEST_CASE("an empty database has an empty tree") {
  const Database database;
  const CallTree tree = tree_of(database);
  CHECK(top_down(tree, {}).rows.empty());
  CHECK(bottom_up(tree, {}).rows.empty());
  CHECK(flat(tree, {}).rows.empty());
}

TEST_CASE("stacks of 8,000 frames are folded, shown and merged") {
  constexpr uint32_t kDepth = 8000;
  Database database;
  database.metrics = {{"CPUTIME", "sec", ""}};
  database.functions = {{"f", kNone, 0, kNone, 0}};
  for (uint32_t c = 0; c <= kDepth; ++c) {
    Context context;
    context.parent = c == 0 ? kNone : c - 1;
    context.kind = c == 0 ? ContextKind::Entry : ContextKind::Function;
    context.function = c == 0 ? kNone : 0;
    database.contexts.push_back(context);
  }
  database.summaries.resize(kDepth + 1);
  for (Summary& summary : database.summaries) summary.sum.inclusive = 1;
  database.summaries.back().sum.exclusive = 1;
  const CallTree tree = tree_of(database);
  CHECK(top_down(tree, {}).rows.size() == kDepth + 1);
  CHECK(top_down(tree, {}).rows.back().depth == kDepth);
  const View callers = bottom_up(tree, {});
  CHECK(callers.rows.size() == kDepth);
  CHECK(callers.costs.front().inclusive == 1);
  CHECK(tree_of(database, true).nodes.size() == 2);
}
