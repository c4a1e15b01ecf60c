#include "analysis/pipeline/process_variables.h"

#include <fmt/format.h>

#include <algorithm>

namespace prof {

std::vector<ModuleInMemory> modules_in_memory(const ProcessMeasurement& measurement) {
  std::vector<ModuleInMemory> modules;
  for (const MeasuredModule& module : measurement.modules)
    modules.push_back({module.start,
                       module.end,
                       module.load_bias,
                       {module.path, module.build_id, measurement.process.start_realtime_ns, module.file}});
  return modules;
}

VariableInMemory ProcessVariables::find(uint64_t address) {
  const auto at = std::ranges::find_if(modules_, [&](const ModuleInMemory& module) {
    return address >= module.start && address < module.end;
  });
  const Variables* const variables = at == modules_.end() ? nullptr : open(*at);
  const Variable* const variable = variables ? variables->find(address - at->bias) : nullptr;
  if (!variable) return {};
  return {variable, variables, variable->address + at->bias};
}

const Variables* ProcessVariables::open(const ModuleInMemory& module) {
  const auto [known, added] = open_.try_emplace(&module);
  OpenModule& opened = known->second;
  if (!added) return opened.variables.get();
  if (opened.file.open(module.identity, options_) == OpenFailure::None)
    opened.variables = std::make_unique<Variables>(opened.file);
  else
    warnings_.push_back(
        fmt::format("{}: its variables have no names, because the measured file was replaced or removed",
                    module.identity.path));
  return opened.variables.get();
}

std::string place_in_source(const std::string& file, uint32_t line) {
  if (file.empty() || line == 0) return "";
  const size_t slash = file.rfind('/');
  return fmt::format("{}:{}", slash == std::string::npos ? file : file.substr(slash + 1), line);
}

}  // namespace prof
