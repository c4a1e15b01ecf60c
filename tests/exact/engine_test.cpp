// The Valgrind tool finds wasted loads and stores to the byte, in their calling contexts.

#include <catch2/catch.hpp>

#include <set>

#include "tests/exact/engine_run.h"

using namespace prof;
using namespace prof::test;

namespace {

using Names = std::vector<std::string>;

Wasted dead(const EngineRun& run, const ExactDump& dump, const char* first, const char* second) {
  return run.wasted(dump, PE_PAIR_DEAD_STORE, first, second);
}

Wasted dead(const EngineRun& run, const char* first, const char* second) {
  return dead(run, run.dump(), first, second);
}

// Returns the callers up to main, which is the same for all cases.
Names up_to_main(Names names) {
  const auto end = std::find(names.begin(), names.end(), "main");
  if (end == names.end()) return {};
  names.erase(end, names.end());
  return names;
}

bool has(const Names& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

TEST_CASE("dead stores of every size are counted to the byte") {
  const EngineRun run("sizes", "--dead-stores");
  CHECK(dead(run, "store_1", "other_store_1") == Wasted{1, 1});
  CHECK(dead(run, "store_2", "other_store_2") == Wasted{1, 2});
  CHECK(dead(run, "store_4", "other_store_4") == Wasted{1, 4});
  CHECK(dead(run, "store_8", "other_store_8") == Wasted{100, 800});
  CHECK(dead(run, "other_store_8", "store_8") == Wasted{});
  CHECK(dead(run, "store_16", "other_store_16") == Wasted{1, 16});
  CHECK(run.executions(run.dump(), PE_ACCESS_STORE, "store_8") == 100);
  CHECK(run.executions(run.dump(), PE_ACCESS_STORE, "other_store_16") == 1);
}

TEST_CASE("of stores that overlap in part, the bytes in common count") {
  const EngineRun run("partial", "--dead-stores");
  CHECK(dead(run, "store_8", "other_store_4") == Wasted{1, 4});
  // One byte of eight was loaded: seven are dead, in two parts.
  CHECK(dead(run, "store_8", "other_store_8") == Wasted{2, 7});
}

TEST_CASE("a store whose bytes were loaded is not dead") {
  const EngineRun run("used", "--dead-stores");
  CHECK(dead(run, "store_8", "other_store_8") == Wasted{});
  CHECK(dead(run, "store_8", "add_8") == Wasted{});
  CHECK(dead(run, "add_8", "locked_add_8") == Wasted{});
  CHECK(run.executions(run.dump(), PE_ACCESS_STORE, "locked_add_8") == 1);
}

TEST_CASE("system calls load and store") {
  const EngineRun run("system_calls", "--dead-stores");
  CHECK(dead(run, "store_8", "other_store_8") == Wasted{});
  // read() overwrites what was stored, and its own bytes are not a store of the program's.
  CHECK(run.wasted(run.dump(), PE_PAIR_DEAD_STORE, "other_store_8", "") == Wasted{1, 8});
  CHECK(dead(run, "other_store_8", "store_8") == Wasted{});
}

TEST_CASE("memory that was freed or mapped again begins without a store") {
  const EngineRun run("freed", "--dead-stores");
  CHECK(dead(run, "store_8", "other_store_8") == Wasted{});
  CHECK(dead(run, "store_4", "other_store_4") == Wasted{});
  REQUIRE(dead(run, "store_16", "other_store_16") == Wasted{1, 16});
  for (const PeDumpPair& pair : run.dump().pairs)
    if (run.function_at(run.dump().accesses[pair.first].address) == "store_16")
      CHECK(up_to_main(run.callers(run.dump(), pair.allocation)).size() == 1);
}

TEST_CASE("memory that other processes may load is never blamed") {
  const EngineRun run("shared", "--dead-stores");
  CHECK(dead(run, "store_8", "other_store_8") == Wasted{});
  CHECK(run.executions(run.dump(), PE_ACCESS_STORE, "other_store_8") == 1);
}

TEST_CASE("a thread's contexts continue with those of its creator, and its stores may die elsewhere") {
  const EngineRun run("threads", "--dead-stores");
  REQUIRE(dead(run, "store_8", "other_store_8") == Wasted{1, 8});
  const ExactDump& dump = run.dump();
  REQUIRE(dump.threads.size() == 2);
  for (const PeDumpPair& pair : dump.pairs) {
    const PeDumpAccess& first = dump.accesses[pair.first];
    if (run.function_at(first.address) != "store_8") continue;
    CHECK(dump.contexts[first.context - 1].thread == 1);
    const Names callers = run.callers(dump, first.context);
    CHECK(callers.front() == "store_in_thread");
    CHECK(has(callers, "main"));
    CHECK(dump.contexts[dump.accesses[pair.second].context - 1].thread == 0);
  }
}

TEST_CASE("a forked child counts for itself, and knows what its parent stored") {
  const EngineRun run("forks", "--dead-stores");
  REQUIRE(run.dumps().size() == 2);
  const bool child_is_first = run.dumps()[0].header.parent_pid == run.dumps()[1].header.pid;
  const ExactDump& child = run.dumps()[child_is_first ? 0 : 1];
  const ExactDump& parent = run.dumps()[child_is_first ? 1 : 0];
  CHECK(dead(run, child, "store_8", "other_store_8") == Wasted{1, 8});
  CHECK(run.executions(child, PE_ACCESS_STORE, "store_8") == 0);
  CHECK(run.executions(child, PE_ACCESS_STORE, "other_store_8") == 1);
  CHECK(dead(run, parent, "store_8", "other_store_8") == Wasted{});
  CHECK(dead(run, parent, "store_8", "") == Wasted{});
  CHECK(run.executions(parent, PE_ACCESS_STORE, "store_8") == 1);
}

TEST_CASE("a process leaves a dump before it executes another program, and none if that fails") {
  const EngineRun run("executes", "--dead-stores");
  REQUIRE(run.dumps().size() == 2);
  CHECK(run.dumps()[0].header.pid == run.dumps()[1].header.pid);
  CHECK(dead(run, run.dumps()[0], "store_8", "other_store_8") == Wasted{1, 8});
  CHECK(dead(run, run.dumps()[1], "store_8", "other_store_8") == Wasted{100, 800});
}

TEST_CASE("longjmp and exceptions leave the contexts of the functions that they end") {
  for (const char* name : {"jumps", "exceptions"}) {
    const EngineRun run(name, "--dead-stores");
    REQUIRE(dead(run, "store_8", "other_store_8") == Wasted{1, 8});
    const Names callers = run.callers_of_second(run.dump(), "store_8", "other_store_8");
    REQUIRE(!callers.empty());
    CHECK(callers.front() == "after_jump");
    CHECK(up_to_main(callers).size() == 2);
  }
}

TEST_CASE("handlers on an alternate stack do not disturb the contexts of what they interrupt") {
  const EngineRun run("signals", "--dead-stores");
  CHECK(dead(run, "store_4", "other_store_4") == Wasted{1, 4});
  CHECK(has(run.callers_of_second(run.dump(), "store_4", "other_store_4"), "main"));
  CHECK(up_to_main(run.callers_of_second(run.dump(), "store_8", "other_store_8")).size() == 2);
}

TEST_CASE("a handler may leave its stack by siglongjmp") {
  const EngineRun run("signal_jumps", "--dead-stores");
  REQUIRE(dead(run, "store_8", "other_store_8") == Wasted{1, 8});
  CHECK(up_to_main(run.callers_of_second(run.dump(), "store_8", "other_store_8")).size() == 2);
}

TEST_CASE("a tail call is made by the caller of the function that ends with it") {
  const EngineRun run("tail_calls", "--dead-stores");
  REQUIRE(dead(run, "store_8", "other_store_8") == Wasted{1, 8});
  for (const PeDumpPair& pair : run.dump().pairs) {
    const PeDumpAccess& first = run.dump().accesses[pair.first];
    if (run.function_at(first.address) != "store_8") continue;
    CHECK(!has(run.callers(run.dump(), first.context), "store_by_tail_call"));
    CHECK(up_to_main(run.callers(run.dump(), first.context)).size() == 1);
  }
}

TEST_CASE("each depth of a recursion is a context of its own") {
  const EngineRun run("recursion", "--dead-stores");
  CHECK(dead(run, "store_8", "store_8") == Wasted{4, 32});
  std::set<uint32_t> contexts;
  for (const PeDumpAccess& access : run.dump().accesses)
    if (access.kind == PE_ACCESS_STORE && run.function_at(access.address) == "store_8")
      contexts.insert(access.context);
  CHECK(contexts.size() == 5);
}

TEST_CASE("silent stores store what the previous store left there") {
  const EngineRun run("silent", "--silent-stores");
  const auto silent = [&](const char* first, const char* second) {
    return run.wasted(run.dump(), PE_PAIR_SILENT_STORE, first, second);
  };
  CHECK(silent("store_8", "same_store_8") == Wasted{1, 8});
  CHECK(silent("same_store_8", "same_store_8") == Wasted{1, 8});
  CHECK(silent("same_store_8", "other_store_8") == Wasted{});
  CHECK(silent("store_8", "same_store_4") == Wasted{1, 4});
  CHECK(silent("store_8", "other_store_4") == Wasted{});
}

TEST_CASE("redundant loads load what the previous load returned") {
  const EngineRun run("redundant", "--redundant-loads");
  const auto redundant = [&](const char* first, const char* second) {
    return run.wasted(run.dump(), PE_PAIR_REDUNDANT_LOAD, first, second);
  };
  // Twice in a row, and again after a store of the same bytes.
  CHECK(redundant("load_8", "load_8") == Wasted{2, 16});
  CHECK(redundant("load_8", "load_4") == Wasted{1, 4});
  CHECK(redundant("load_4", "load_8") == Wasted{});
  CHECK(run.executions(run.dump(), PE_ACCESS_LOAD, "load_8") >= 5);
}

TEST_CASE("each instruction is counted as often as it was executed") {
  const EngineRun run("counts", "--count");
  std::map<uint64_t, uint64_t> counts;
  for (const PeDumpAccess& access : run.dump().accesses)
    if (run.function_at(access.address) == "loop_1000") counts[access.address] += access.count;
  std::map<uint64_t, int> instructions;
  for (const auto& [address, count] : counts) ++instructions[count];
  CHECK(instructions[1000] == 2);
}
