#include "analysis/findings/finding_json.h"

#include "analysis/views/tree/call_path_json.h"

namespace prof {

using Json = nlohmann::ordered_json;

Json finding_as_json(const Finding& finding) {
  Json json{{"id", finding.id}, {"kind", name_of(finding.kind)}, {"severity", name_of(finding.severity)}};
  if (!finding.metric.empty()) json["metric"] = finding.metric;
  if (finding.cost) {
    json["cost"] = {{"value", finding.cost->value},
                    {"unit", finding.cost->unit},
                    {"share_of_run", finding.cost->share_of_run},
                    {"basis", finding.cost->basis}};
  }
  if (finding.saving) {
    json["saving"] = {{"low_s", finding.saving->low_s},
                      {"high_s", finding.saving->high_s},
                      {"is_bound", finding.saving->is_bound},
                      {"basis", finding.saving->basis}};
  }
  json["sentence"] = finding.sentence;
  for (const FindingContext& context : finding.contexts)
    json["contexts"].push_back({{"role", context.role}, {"frames", frames_as_json(context.frames)}});
  if (!finding.advice.empty()) json["advice"] = finding.advice;
  if (!finding.values.empty()) json["values"] = finding.values;
  if (const std::string_view view = view_of(finding.kind); !view.empty()) json["view"] = view;
  return json;
}

Json findings_as_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) json.push_back(finding_as_json(finding));
  return json;
}

}  // namespace prof
