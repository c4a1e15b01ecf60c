// Wasted stores and loads as text, JSON and CSV (docs/memory-waste.md).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/findings/finding_json.h"
#include "analysis/findings/memory_waste.h"
#include "analysis/findings/order.h"
#include "analysis/views/run/format_waste.h"
#include "analysis/views/run/waste_pattern.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/words/numbers.h"
#include "analysis/words/short_names.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxPairsOfLines = 16;
constexpr size_t kMaxNameColumns = 64;
constexpr size_t kMaxPathFrames = 12;  // of a call path

CodeFrame shortened(CodeFrame frame) {
  frame.function = shorten_name(frame.function, kMaxNameColumns);
  return frame;
}

class MemoryWasteText {
 public:
  MemoryWasteText(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out)
      : tree_(tree), run_(run), style_(style), out_(out) {}

  void write() {
    for (const WasteTotal& total : run_.memory_waste.totals)
      out_.write(wrapped_behind("", format_waste_total(run_.memory_waste, total) + ".", style_));
    const std::vector<WasteByLine> all = waste_by_line(tree_, run_);
    for (size_t i = 0; i < std::min(all.size(), kMaxPairsOfLines); ++i) write(all[i], i + 1);
    if (all.size() > kMaxPairsOfLines)
      out_.print("\nand {}\n", format_count(all.size() - kMaxPairsOfLines, "more pair of lines"));
  }

 private:
  void write(const WasteByLine& waste, size_t number) {
    const Finding finding = memory_waste_finding(tree_, run_, waste);
    out_.write("\n");
    out_.write(wrapped_behind(fmt::format("{:>2}. ", number), finding.sentence, style_));
    out_.write(wrapped_behind("    Change: ", finding.advice, style_));
    out_.print("    {}\n", format_size(waste));
    if (finding.saving)
      out_.print("    saves at most {} of CPU time\n", format_duration(finding.saving->high_s));
    for (const FindingContext& context : finding.contexts) write_path(context.role, context.frames);
    if (waste.call_paths > 1)
      out_.print("    and {}\n", format_count(waste.call_paths - 1, "more pair of call paths"));
  }

  std::string format_size(const WasteByLine& waste) const {
    const WastePair& pair = *waste.main;
    const bool is_load = pair.kind == hpcrun::WasteKind::RedundantLoad;
    std::string text = fmt::format("{} in {}", format_bytes(static_cast<double>(waste.bytes)),
                                   format_count(waste.count, is_load ? "load" : "store"));
    if (pair.access_bytes > 0) text += fmt::format(" of {} B", pair.access_bytes);
    if (!pair.declared.empty()) text += fmt::format("; declared at {}", pair.declared);
    return text;
  }

  void write_path(const std::string& role, const std::vector<CodeFrame>& frames) {
    out_.print("    {}\n", bold(style_, role));
    for (size_t i = 0; i < std::min(frames.size(), kMaxPathFrames); ++i)
      out_.write(row_ending_in("      ", format_frame(shortened(frames[i])), style_));
    if (frames.size() > kMaxPathFrames)
      out_.print("      and {}\n", format_count(frames.size() - kMaxPathFrames, "more caller"));
  }

  const CallTree& tree_;
  const RunSummary& run_;
  const TextStyle style_;
  Output& out_;
};

Json share_as_json(const WasteShare& share) {
  return {{"value", share.value}, {"low", share.low}, {"high", share.high}};
}

// Members of kinds that were not searched for are absent.
Json totals_as_json(const MemoryWasteRecord& record) {
  using hpcrun::WasteKind;
  Json json = Json::object();
  const WasteTotal* stores = total_of(record, WasteKind::DeadStore);
  if (!stores) stores = total_of(record, WasteKind::SilentStore);
  if (stores) json["written_bytes"] = stores->checked_bytes;
  if (const WasteTotal* const loads = total_of(record, WasteKind::RedundantLoad))
    json["loaded_bytes"] = loads->checked_bytes;
  for (const auto& [kind, name] :
       {std::pair(WasteKind::DeadStore, "dead_share"), std::pair(WasteKind::SilentStore, "silent_share"),
        std::pair(WasteKind::RedundantLoad, "redundant_share")})
    if (const WasteTotal* const total = total_of(record, kind))
      json[name] = share_as_json(waste_share(record, *total, total->wasted_bytes));
  return json;
}

Json pair_as_json(const CallTree& tree, const WastePair& pair) {
  Json json = fields_as_json<Json>(pair, {"first", "second", "allocation"});
  const WastePaths paths = paths_of(tree, pair);
  const WasteRoles roles = roles_of(pair.kind);
  json["pattern"] = name_of(pattern_of(pair, paths));
  json["contexts"] = {{{"role", roles.first}, {"frames", frames_as_json(paths.first)}},
                      {{"role", roles.second}, {"frames", frames_as_json(paths.second)}}};
  if (pair.allocation != 0) json["allocation"] = frames_as_json(frames_of(tree, pair.allocation));
  return json;
}

}  // namespace

void memory_waste_as_text(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out) {
  MemoryWasteText(tree, run, style, out).write();
}

void memory_waste_as_json(const CallTree& tree, const RunSummary& run, const ReportOptions& options,
                          Output& out) {
  const MemoryWasteRecord& record = run.memory_waste;
  Json json{{"schema", "prof-report/1"}, {"view", "memory-waste"}, {"database", options.database}};
  json["units"] = {{"DEAD_WRITE", "bytes"},
                   {"SILENT_WRITE", "bytes"},
                   {"REDUNDANT_LOAD", "bytes"},
                   {"WRITTEN", "bytes"},
                   {"LOADED", "bytes"}};
  json["is_exact"] = record.is_exact;
  json["totals"] = totals_as_json(record);
  json["kinds"] = Json::array();
  for (const WasteTotal& total : record.totals) json["kinds"].push_back(fields_as_json<Json>(total));
  std::vector<Finding> findings = memory_waste_findings(tree, run);
  put_in_order(findings);
  json["findings"] = findings_as_json(findings);
  json["pairs"] = Json::array();
  for (const WastePair& pair : record.pairs) json["pairs"].push_back(pair_as_json(tree, pair));
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void memory_waste_as_csv(const CallTree& tree, const RunSummary& run, Output& out) {
  out.write(
      "kind,pattern,bytes,count,data,first function,first file,first line,second function,second file,"
      "second line\n");
  for (const WastePair& pair : run.memory_waste.pairs) {
    const WastePaths paths = paths_of(tree, pair);
    out.print("{},{},{},{},{},{},{}\n", name_of(pair.kind), name_of(pattern_of(pair, paths)), pair.bytes,
              pair.count, csv_field(format_wasted_data(tree, pair)), leaf_as_csv(paths.first),
              leaf_as_csv(paths.second));
  }
}

}  // namespace prof
