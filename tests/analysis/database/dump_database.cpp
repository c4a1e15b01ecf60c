// dump_database DIR: prints everything that our reader finds in a database as JSON, for comparison with other
// readers.

#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/database/database.h"
#include "tests/analysis/database/databases.h"

namespace {

using nlohmann::json;
using namespace prof;

json values(const Values& values) {
  return {{"function", values.exclusive}, {"execution", values.inclusive}, {"point", values.point}};
}

json contexts(const Database& database) {
  constexpr const char* kKinds[] = {"entry", "function", "loop", "line", "instruction"};
  json result = json::array();
  for (const Context& context : database.contexts) {
    json item = {{"kind", kKinds[static_cast<size_t>(context.kind)]},
                 {"line", context.line},
                 {"offset", context.offset}};
    if (context.parent != kNone) item["parent"] = context.parent;
    if (context.kind == ContextKind::Entry) item["entry"] = context.entry;
    if (context.function != kNone) item["function"] = database.functions[context.function].name;
    if (context.file != kNone) item["file"] = database.files[context.file].path;
    if (context.module != kNone) item["module"] = database.modules[context.module].path;
    result.push_back(item);
  }
  return result;
}

json summaries(const Database& database) {
  json result = json::array();
  for (uint32_t metric = 0; metric < database.metrics.size(); ++metric) {
    for (uint32_t context = 0; context < database.contexts.size(); ++context) {
      const Summary& summary = database.summary(metric, context);
      if (summary.profiles == 0) continue;
      result.push_back({{"metric", database.metrics[metric].name},
                        {"context", context},
                        {"profiles", summary.profiles},
                        {"sum", values(summary.sum)},
                        {"min", values(summary.minimum)},
                        {"max", values(summary.maximum)}});
    }
  }
  return result;
}

json profiles(const Database& database) {
  json result = json::array();
  for (size_t i = 0; i < database.profiles.size(); ++i) {
    const Profile& profile = database.profiles[i];
    json items = json::array();
    for (const ProfileValue& value : profile.values) {
      json item = values(value.values);
      item["context"] = value.context;
      item["metric"] = database.metrics[value.metric].name;
      items.push_back(item);
    }
    json trace = json::array();
    if (!database.traces.empty() && database.traces[i]) {
      for (const TraceRecord& record : test::records_of(database.traces[i])) {
        trace.push_back({record.time_ns, record.context == kNone ? json() : json(record.context)});
      }
    }
    result.push_back({{"process", profile.id.process},
                      {"thread", profile.id.thread},
                      {"values", items},
                      {"trace", trace}});
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: dump_database DIR\n");
    return 2;
  }
  const Database database = read_database(argv[1]);
  const json dump = {{"title", database.title},
                     {"contexts", contexts(database)},
                     {"summaries", summaries(database)},
                     {"profiles", profiles(database)}};
  std::cout << dump.dump(1) << '\n';
  return 0;
} catch (const DatabaseError& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
