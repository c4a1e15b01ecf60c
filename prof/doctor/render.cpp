#include "prof/doctor/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/words/numbers.h"
#include "prof/base/message.h"
#include "prof/base/terminal.h"

namespace prof {
namespace {

constexpr size_t kColumns = 100;

const char* sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::Good:
      return "ok";
    case Verdict::Limited:
      return "limited";
    case Verdict::Bad:
      return "NO";
    case Verdict::Note:
      return "note";
  }
  return "";
}

// Colours the text green, yellow or red; notes stay plain.
std::string coloured(const TextStyle& style, Verdict verdict, const std::string& text) {
  if (!style.colour || verdict == Verdict::Note) return text;
  const int colour = verdict == Verdict::Good ? 32 : verdict == Verdict::Limited ? 33 : 31;
  return fmt::format("\033[{}m{}\033[0m", colour, text);
}

std::string indented(const std::string& label, const std::string& text, size_t columns) {
  if (text.empty()) return {};
  std::string out;
  constexpr size_t kIndent = 11;
  for (const std::string& line : wrap(printable(text), columns > kIndent + 30 ? columns - kIndent - 8 : 0))
    out += fmt::format("{:{}}{:<8}{}\n", "", kIndent, out.empty() ? label : "", line);
  return out;
}

std::string row_text(const Diagnosis& row, const TextStyle& style, size_t columns) {
  std::string out = "  " + coloured(style, row.verdict, fmt::format("{:<9}", sign(row.verdict))) +
                    bold(style, printable(row.title)) + ": " + printable(row.state) + "\n";
  out += indented("works", row.works, columns);
  out += indented("lost", row.lost, columns);
  // A command is not wrapped, so that it can be copied.
  if (!row.remedy.empty()) out += fmt::format("{:11}{:<8}{}\n", "", "remedy", printable(row.remedy));
  return out;
}

std::string conclusion(const DoctorReport& report) {
  switch (overall(report)) {
    case Verdict::Bad:
      return "No profile can be made. See the rows marked NO.";
    case Verdict::Limited:
      return "A profile can be made. The rows marked limited show what is lost, and the remedy.";
    default:
      return "Everything in prof can be used.";
  }
}

nlohmann::ordered_json as_json(const std::vector<Diagnosis>& rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Diagnosis& row : rows)
    list.push_back({{"id", row.id},
                    {"title", row.title},
                    {"verdict", verdict_name(row.verdict)},
                    {"state", row.state},
                    {"works", row.works},
                    {"lost", row.lost},
                    {"remedy", row.remedy}});
  return list;
}

nlohmann::ordered_json as_json(const ModuleReport& module) {
  return {{"path", module.path.string()},
          {"build_id", module.build_id},
          {"debug_information", debug_information_name(module.level)},
          {"debug_file", module.debug_file.string()}};
}

}  // namespace

const char* verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::Good:
      return "good";
    case Verdict::Limited:
      return "limited";
    case Verdict::Bad:
      return "bad";
    case Verdict::Note:
      return "note";
  }
  return "";
}

Verdict overall(const std::vector<Diagnosis>& diagnoses) {
  Verdict worst = Verdict::Good;
  for (const Diagnosis& row : diagnoses)
    if (row.verdict != Verdict::Note) worst = std::max(worst, row.verdict);
  return worst;
}

Verdict overall(const DoctorReport& report) {
  const Verdict machine = overall(report.machine);
  return report.program ? std::max(machine, overall(report.program->diagnoses)) : machine;
}

std::string doctor_as_text(const DoctorReport& report, TextStyle style) {
  const size_t columns = style.columns == 0 ? kColumns : style.columns;
  std::string out;
  if (report.program) {
    out += bold(style, "Program") + "\n";
    for (const Diagnosis& row : report.program->diagnoses) out += row_text(row, style, columns);
    out += "\n";
  }
  std::vector<Diagnosis> rows = report.machine;
  // Not std::ranges': clang 14 cannot compile its return type in libstdc++.
  std::stable_partition(rows.begin(), rows.end(),
                        [](const Diagnosis& row) { return row.verdict != Verdict::Note; });
  std::stable_partition(rows.begin(), rows.end(), [](const Diagnosis& row) {
    return row.verdict == Verdict::Bad || row.verdict == Verdict::Limited;
  });
  out += bold(style, "Machine") + "\n";
  for (const Diagnosis& row : rows) out += row_text(row, style, columns);
  return out + "\n" + coloured(style, overall(report), conclusion(report)) + "\n";
}

std::string doctor_as_json(const DoctorReport& report) {
  nlohmann::ordered_json json = {{"schema", "prof-doctor/1"}, {"verdict", verdict_name(overall(report))}};
  json["checks"] = as_json(report.machine);
  json["program"] = nullptr;
  if (report.program) {
    nlohmann::ordered_json modules = nlohmann::ordered_json::array();
    for (const ModuleReport& module : report.program->modules) modules.push_back(as_json(module));
    json["program"] = {{"checks", as_json(report.program->diagnoses)}, {"modules", modules}};
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace prof
