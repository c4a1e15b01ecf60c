#include "tests/analysis/database/databases.h"
#include "tests/analysis/database/run_text.h"

#include <random>
#include <string>

#include "analysis/database/summaries.h"

namespace prof::test {

TraceSource trace_of(std::vector<TraceRecord> records) {
  return [records = std::move(records), next = size_t{0}](std::vector<TraceRecord>& block) mutable {
    block.clear();
    if (next == records.size()) {
      next = 0;
      return false;
    }
    while (next < records.size() && block.size() < 3) block.push_back(records[next++]);
    return true;
  };
}

std::vector<TraceRecord> records_of(const TraceSource& trace) {
  std::vector<TraceRecord> records, block;
  while (trace(block)) records.insert(records.end(), block.begin(), block.end());
  return records;
}

namespace {

Context entry(const std::string& name) {
  Context context;
  context.kind = ContextKind::Entry;
  context.entry = name;
  return context;
}
Context function(uint32_t parent, uint32_t index, Relation relation = Relation::Call) {
  Context context;
  context.parent = parent;
  context.relation = relation;
  context.function = index;
  return context;
}
Context line(uint32_t parent, uint32_t file, uint32_t number, ContextKind kind = ContextKind::Line) {
  Context context;
  context.parent = parent;
  context.kind = kind;
  context.relation = Relation::Enclosing;
  context.file = file;
  context.line = number;
  return context;
}
Context instruction(uint32_t parent, uint32_t module, uint64_t offset) {
  Context context;
  context.parent = parent;
  context.kind = ContextKind::Instruction;
  context.relation = Relation::Enclosing;
  context.module = module;
  context.offset = offset;
  return context;
}

}  // namespace

Database known_database() {
  Database database;
  database.title = "solver";
  database.description = "a database with known contents";
  database.modules = {{"/opt/solver/bin/solver", "00ff3a"}, {"/usr/lib/libm.so.6"}};
  database.files = {{"/opt/solver/main.cpp", true}, {"/opt/solver/matrix.h", false}};
  database.functions = {
      {"main", 0, 0x1000, 0, 10},
      {"solve(Matrix const&)", 0, 0x1200, 0, 30},
      {"Matrix::row(int)", 0, 0x1280, 1, 7},
      {"libm.so.6+0x5a10", 1, 0x5a10, kNone, 0},
  };
  database.contexts = {
      entry("main thread"),                   // 0
      function(0, 0),                         // 1  main
      line(1, 0, 14),                         // 2
      function(2, 1),                         // 3  solve
      line(3, 0, 33, ContextKind::Loop),      // 4
      line(4, 0, 34),                         // 5
      function(5, 2, Relation::InlinedCall),  // 6  row
      line(6, 1, 9),                          // 7
      line(4, 0, 35, ContextKind::Loop),      // 8
      line(8, 0, 36),                         // 9
      entry("application thread"),            // 10
      function(10, 3),                        // 11
      instruction(11, 1, 0x5a24),             // 12
  };
  database.metrics = {{"CPUTIME", "sec", "user and system time"}, {"LOCK_WAIT", "sec", ""}};
  database.profiles = {
      {{"node17", -1, 4711, 0, "solver"},
       {
           {0, 0, {0, 4.5, 0}},
           {0, 1, {0, 0.25, 0}},
           {1, 0, {0.5, 4.5, 0}},
           {1, 1, {0, 0.25, 0}},
           {2, 0, {0.5, 4.5, 0.5}},
           {2, 1, {0, 0.25, 0}},
           {3, 0, {3, 4, 0}},
           {3, 1, {0.25, 0.25, 0}},
           {4, 0, {3, 4, 0}},
           {4, 1, {0.25, 0.25, 0}},
           {5, 0, {1, 2, 1}},
           {5, 1, {0.25, 0.25, 0.25}},
           {6, 0, {1, 1, 0}},
           {7, 0, {1, 1, 1}},
           {8, 0, {2, 2, 0}},
           {9, 0, {2, 2, 2}},
       },
       4500},
      {{"node17", -1, 4711, 1, "worker"},
       {{10, 0, {0, 1.5, 0}}, {11, 0, {1.5, 1.5, 0}}, {12, 0, {1.5, 1.5, 1.5}}},
       1500},
  };
  constexpr uint64_t kStart = 1'700'000'000'000'000'000;
  database.traces = {
      trace_of({{kStart, 2}, {kStart + 1'000'000, 7}, {kStart + 2'000'000, kNone}, {kStart + 9'000'000, 9}}),
      TraceSource{}};
  set_run_text(database, R"({"run":{"command":"solver --fast","processes":1},"degradations":[]})");
  database.summaries = summarize(database);
  return database;
}

namespace {

class RandomDatabase {
 public:
  RandomDatabase(uint32_t seed, const RandomSize& size) : random_(seed), size_(size) {}

  Database make() {
    database_.title = text();
    database_.description = text() + "\n\n# Ünïcode — " + text();
    for (size_t i = below(9); i > 0; --i) database_.modules.push_back({"/lib/" + text()});
    for (size_t i = below(9); i > 0; --i) database_.files.push_back({"/src/" + text(), below(2) == 1});
    for (size_t i = 0; i < 20; ++i) {
      database_.functions.push_back({text(), index(database_.modules.size()), random_(),
                                     index(database_.files.size()), static_cast<uint32_t>(random_())});
    }
    for (size_t i = 0; i < size_.contexts; ++i) database_.contexts.push_back(context());
    for (size_t i = 0; i < size_.metrics; ++i) {
      database_.metrics.push_back({"METRIC_" + std::to_string(i), i % 2 ? "sec" : "", text()});
    }
    for (size_t i = 0; i < size_.profiles; ++i) {
      database_.profiles.push_back(profile(static_cast<int32_t>(i)));
      database_.traces.push_back(i % 3 == 2 ? TraceSource{} : trace_of(trace()));
    }
    set_run_text(database_, R"({"run":{"wall_s":1.5}})");
    database_.summaries = summarize(database_);
    return std::move(database_);
  }

 private:
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }
  uint32_t index(size_t size) {
    return size == 0 || below(4) == 0 ? kNone : static_cast<uint32_t>(below(size));
  }
  double value() { return static_cast<double>(random_() >> 12) * 1e-9; }

  std::string text() {
    std::string result;
    for (size_t i = 1 + below(40); i > 0; --i) result += static_cast<char>('!' + below(94));
    return result;
  }

  Context context() {
    const auto number = static_cast<uint32_t>(database_.contexts.size());
    Context result;
    if (number == 0 || below(20) == 0) {
      constexpr const char* kNames[] = {"main thread", "application thread", "unknown entry", "GPU stream 7"};
      result.kind = ContextKind::Entry;
      result.entry = kNames[below(4)];
      return result;
    }
    result.parent = static_cast<uint32_t>(below(number));
    result.kind = static_cast<ContextKind>(1 + below(4));
    result.relation = static_cast<Relation>(below(3));
    result.function = index(database_.functions.size());
    result.file = index(database_.files.size());
    result.line = result.file == kNone ? 0 : static_cast<uint32_t>(random_());
    result.module = index(database_.modules.size());
    result.offset = result.module == kNone ? 0 : random_();
    return result;
  }

  Profile profile(int32_t number) {
    Profile result;
    result.id = {number % 2 ? "alpha" : "beta", number - 1, 1000 + number, number, text()};
    result.samples = random_();
    for (uint32_t c = 0; c < size_.contexts; ++c) {
      for (uint32_t m = 0; m < size_.metrics; ++m) {
        if (below(3) != 0) continue;
        // Sometimes there is only the inclusive cost, as for most contexts of a real run.
        result.values.push_back({c, m, {below(2) ? value() : 0, value() + 1e-9, below(2) ? value() : 0}});
      }
    }
    return result;
  }

  std::vector<TraceRecord> trace() {
    std::vector<TraceRecord> result;
    uint64_t time = random_() >> 8;
    for (size_t i = 0; i < size_.records; ++i) {
      time += below(1'000'000);
      const bool idle = below(5) == 0 && !result.empty() && result.back().context != kNone;
      result.push_back({time, idle ? kNone : static_cast<uint32_t>(below(size_.contexts))});
    }
    return result;
  }

  std::mt19937_64 random_;
  RandomSize size_;
  Database database_;
};

}  // namespace

Database random_database(uint32_t seed, const RandomSize& size) {
  return RandomDatabase(seed, size).make();
}

}  // namespace prof::test
