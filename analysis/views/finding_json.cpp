#include "analysis/views/finding_json.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

Json frame_as_json(const FindingFrame& frame) {
  Json json{{"function", frame.function}};
  if (!frame.file.empty()) json["file"] = frame.file;
  if (frame.line > 0) json["line"] = frame.line;
  if (!frame.module.empty()) json["module"] = frame.module;
  return json;
}

}  // namespace

Json finding_as_json(const Finding& finding) {
  Json json{{"kind", name_of(finding.kind)}, {"severity", severity_name(finding.severity)}};
  if (!finding.metric.empty()) json["metric"] = finding.metric;
  if (finding.cost) {
    json["cost"] = {{"value", finding.cost->value},
                    {"unit", finding.cost->unit},
                    {"share_of_run", finding.cost->share_of_run},
                    {"basis", finding.cost->basis}};
  }
  json["sentence"] = finding.sentence;
  for (const FindingContext& context : finding.contexts)
    json["contexts"].push_back({{"role", context.role}, {"frames", frames_as_json(context.frames)}});
  if (!finding.advice.empty()) json["advice"] = finding.advice;
  if (!finding.values.empty()) json["values"] = finding.values;
  return json;
}

Json frames_as_json(const std::vector<FindingFrame>& frames) {
  Json json = Json::array();
  for (const FindingFrame& frame : frames) json.push_back(frame_as_json(frame));
  return json;
}

Json findings_as_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) json.push_back(finding_as_json(finding));
  return json;
}

}  // namespace prof
