// Writes the files that accompany the format's binary ones: the metric taxonomy that HPCToolkit's viewer
// shows, and run.json, with data that the format has no place for.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/database/database.h"
#include "analysis/database/output.h"
#include "analysis/database/run_file.h"
#include "analysis/database/statistics.h"
#include "analysis/database/write.h"
#include "analysis/files/folder.h"
#include "analysis/run/run_json.h"

namespace prof {
namespace {

// A JSON string is also a YAML string.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string_view combine_name(format::Combine combine) {
  switch (combine) {
    case format::Combine::Sum:
      return "sum";
    case format::Combine::Minimum:
      return "min";
    case format::Combine::Maximum:
      return "max";
  }
  return "";
}

// Formulas of the variants, over the anchors of one metric's inputs: {m} is the metric, {s} the scope.
struct Variant {
  std::string_view name, render;
  std::string_view formula;
  bool lex_aware;  // has a formula for the scope lex_aware
};
constexpr Variant kVariants[] = {
    {"Sum", "[number, percent]", "*m{m}-sum-{s}", true},
    {"Mean", "[number]", "{{/: [*m{m}-sum-{s}, *m{m}-count-execution]}}", false},
    {"StdDev", "[number]",
     "{{sqrt: [{{-: [{{/: [*m{m}-squares-{s}, *m{m}-count-execution]}}, "
     "{{^: [{{/: [*m{m}-sum-{s}, *m{m}-count-execution]}}, 2]}}]}}]}}",
     false},
    {"Min", "[number]", "*m{m}-min-{s}", false},
    {"Max", "[number]", "*m{m}-max-{s}", false},
};

std::string anchor(size_t metric, const StatisticSpec& spec) {
  const std::string_view kind = spec.formula == format::kCountFormula    ? "count"
                                : spec.formula == format::kSquareFormula ? "squares"
                                                                         : combine_name(spec.combine);
  return fmt::format("m{}-{}-{}", metric, kind, format::kScopeSpecs[static_cast<size_t>(spec.scope)].name);
}

std::string formula(const Variant& variant, size_t metric, std::string_view scope) {
  return fmt::format(fmt::runtime(variant.formula), fmt::arg("m", metric), fmt::arg("s", scope));
}

}  // namespace

void write_taxonomy(const Database& database, const std::filesystem::path& directory) {
  std::string text = "version: 0\ninputs:\n";
  for (size_t i = 0; i < database.metrics.size(); ++i) {
    for (const StatisticSpec& spec : kStatisticSpecs) {
      text += fmt::format("  - &{}\n    metric: {}\n    scope: {}\n    formula: {}\n    combine: {}\n",
                          anchor(i, spec), quoted(full_name(database.metrics[i])),
                          format::kScopeSpecs[static_cast<size_t>(spec.scope)].name,
                          quoted(std::string(spec.formula)), combine_name(spec.combine));
    }
  }
  text += "roots:\n";
  for (size_t i = 0; i < database.metrics.size(); ++i) {
    const Metric& metric = database.metrics[i];
    text += fmt::format("  - name: {}\n    description: {}\n    variants:\n", quoted(full_name(metric)),
                        quoted(metric.description.empty() ? full_name(metric) : metric.description));
    for (const Variant& variant : kVariants) {
      text += fmt::format("      {}:\n        render: {}\n        formula:\n", variant.name, variant.render);
      text +=
          fmt::format("          inclusive:\n            standard: {}\n", formula(variant, i, "execution"));
      text += "          exclusive:\n";
      if (variant.lex_aware)
        text += fmt::format("            custom: {}\n", formula(variant, i, "lex_aware"));
      text += fmt::format("            standard: {}\n", formula(variant, i, "function"));
    }
  }
  Folder::make((directory / format::kTaxonomyFile).parent_path());
  write_text_file(directory / format::kTaxonomyFile, text);
}

void write_run(const Database& database, const std::filesystem::path& directory) {
  using nlohmann::ordered_json;
  ordered_json file = {{"schema", kRunSchema}};
  if (database.run) file["summary"] = ordered_json(run_as_json(*database.run));
  file["metrics"] = ordered_json::array();
  for (const Metric& metric : database.metrics) {
    file["metrics"].push_back(
        {{"name", metric.name}, {"unit", metric.unit}, {"description", metric.description}});
  }
  file["modules"] = ordered_json::array();
  for (const LoadModule& module : database.modules)
    file["modules"].push_back({{"path", module.path}, {"build_id", module.build_id}});
  file["profiles"] = ordered_json::array();
  for (const Profile& profile : database.profiles) {
    const ProfileId& id = profile.id;
    ordered_json& written = file["profiles"].emplace_back(ordered_json{{"host", id.host},
                                                                       {"rank", id.rank},
                                                                       {"process", id.process},
                                                                       {"thread", id.thread},
                                                                       {"name", id.thread_name},
                                                                       {"samples", profile.samples}});
    if (id.device >= 0) written["device"] = id.device;
    if (id.queue >= 0) written["queue"] = id.queue;
  }
  write_text_file(directory / format::kRunFile,
                  file.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace prof
