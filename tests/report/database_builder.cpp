#include "tests/report/database_builder.h"

#include <algorithm>

namespace prof::test {

void DatabaseBuilder::function(const std::string& name, const std::string& file, const std::string& module,
                               uint32_t line) {
  Function function;
  function.name = name;
  if (!file.empty()) {
    const auto [at, added] = files_.try_emplace(file, static_cast<uint32_t>(database.files.size()));
    if (added) database.files.push_back({"src/" + file, false});
    function.file = at->second;
    function.line = line;
  }
  const auto [at, added] = modules_.try_emplace(module, static_cast<uint32_t>(database.modules.size()));
  if (added) database.modules.push_back({module});
  function.module = at->second;
  function.offset = 0x1000 + 0x100 * database.functions.size();
  functions_[name] = static_cast<uint32_t>(database.functions.size());
  database.functions.push_back(function);
}

uint32_t DatabaseBuilder::metric(const std::string& name, const std::string& unit) {
  database.metrics.push_back({name, unit, name});
  return static_cast<uint32_t>(database.metrics.size() - 1);
}

uint32_t DatabaseBuilder::thread(int32_t index, const std::string& name, int32_t rank) {
  Profile profile;
  profile.id = {"host", rank, 100, index, name};
  database.profiles.push_back(profile);
  values_.emplace_back();
  return static_cast<uint32_t>(database.profiles.size() - 1);
}

uint32_t DatabaseBuilder::function_index(const std::string& name) {
  if (functions_.count(name) == 0) function(name, name + ".cpp", "/bin/sum");
  return functions_.at(name);
}

uint32_t DatabaseBuilder::context(const Context& wanted) {
  for (uint32_t c = 0; c < database.contexts.size(); ++c) {
    const Context& known = database.contexts[c];
    if (known.parent == wanted.parent && known.kind == wanted.kind && known.relation == wanted.relation &&
        known.function == wanted.function && known.file == wanted.file && known.line == wanted.line &&
        known.entry == wanted.entry)
      return c;
  }
  database.contexts.push_back(wanted);
  return static_cast<uint32_t>(database.contexts.size() - 1);
}

void DatabaseBuilder::spend(uint32_t thread, const std::vector<At>& path, double cost, uint32_t metric,
                            const std::string& entry) {
  Context root;
  root.kind = ContextKind::Entry;
  root.relation = Relation::Enclosing;
  root.entry = entry;
  uint32_t at = context(root);
  for (const At& frame : path) {
    Context call;
    call.parent = at;
    call.relation = frame.inlined ? Relation::InlinedCall : Relation::Call;
    call.function = function_index(frame.function);
    at = context(call);
    if (frame.line == 0) continue;
    Context line;
    line.parent = at;
    line.kind = ContextKind::Line;
    line.relation = Relation::Enclosing;
    line.file = database.functions[call.function].file;
    line.line = frame.line;
    at = context(line);
  }
  auto& values = values_[thread];
  values[{at, metric}].point += cost;
  bool in_function = true;
  for (; at != kNone; at = database.contexts[at].parent) {
    values[{at, metric}].inclusive += cost;
    if (in_function) values[{at, metric}].exclusive += cost;
    in_function &= database.contexts[at].relation == Relation::Enclosing;
  }
}

Database DatabaseBuilder::build() {
  database.summaries.assign(database.metrics.size() * database.contexts.size(), {});
  for (size_t p = 0; p < values_.size(); ++p) {
    for (const auto& [key, values] : values_[p]) {
      database.profiles[p].values.push_back({key.first, key.second, values});
      Summary& summary = database.summaries[key.second * database.contexts.size() + key.first];
      summary.sum.inclusive += values.inclusive;
      summary.sum.exclusive += values.exclusive;
      summary.sum.point += values.point;
      ++summary.profiles;
    }
  }
  return database;
}

}  // namespace prof::test
