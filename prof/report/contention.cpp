// Contended data as text, JSON and CSV (docs/contention.md).

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/findings/contention.h"
#include "analysis/findings/finding_json.h"
#include "analysis/views/run/format_contention.h"
#include "analysis/views/run/format_repairs.h"
#include "analysis/views/run/line_pictures.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/call_path_json.h"
#include "analysis/words/numbers.h"
#include "prof/report/renderers.h"
#include "prof/report/text.h"

namespace prof {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxPictures = 4;  // of one finding
constexpr size_t kMaxAllocations = 4;
constexpr size_t kMaxFrames = 12;
constexpr size_t kMaxRows = 16;  // of a picture
constexpr size_t kThreadColumns = 16;

class ContentionText {
 public:
  ContentionText(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out)
      : tree_(tree), run_(run), style_(style), out_(out) {}

  void write() {
    const std::vector<Finding> findings = contention_findings(tree_, run_);
    if (findings.empty()) out_.print("no contention was found\n");
    size_t number = 0;
    for (const ContendedRecord& record : run_.contention) {
      if (record.sides.empty()) continue;  // and no finding
      const Finding& finding = findings[number++];
      if (number > 1) out_.write("\n");
      out_.write(wrapped_behind(fmt::format("{:>2}. ", number), finding.sentence, style_));
      out_.write(wrapped_behind("    Change: ", finding.advice, style_));
      if (!record.repair.empty()) out_.write(wrapped_behind("    Repair: ", record.repair, style_));
      allocations(record);
      pictures(record);
      sides(record);
    }
    const std::vector<std::string> repairs = format_repairs(tree_, run_.repairs);
    if (!repairs.empty()) out_.print("\n{}\n", bold(style_, "repairs"));
    for (const std::string& repair : repairs) out_.write(wrapped_behind("  * ", repair, style_));
    for (const std::string& note : contention_notes(run_)) {
      out_.write("\n");
      out_.write(wrapped_behind("note  ", note, style_));
    }
    if (!run_.contention_sources.empty())
      out_.print("\ncontention sources: {}\n", fmt::join(contention_sources(run_), "; "));
  }

 private:
  std::string thread(uint32_t profile) const {
    return shorten_end(printable(thread_label(*tree_.database, profile)), kThreadColumns);
  }

  void allocations(const ContendedRecord& record) {
    for (size_t i = 0; i < std::min(record.allocations.size(), kMaxAllocations); ++i) {
      const std::vector<CodeFrame> frames = frames_of(tree_, record.allocations[i].context);
      std::string path = frames.empty() ? "in an unknown context" : "";
      for (size_t at = 0; at < std::min(frames.size(), kMaxFrames); ++at)
        path += (at == 0 ? "" : " <- ") + format_frame(frames[at]);
      if (frames.size() > kMaxFrames) path += " <- ...";
      out_.write(wrapped_behind("    Allocated: ", path, style_));
    }
    if (record.allocations.size() > kMaxAllocations)
      out_.print("    and in {}\n",
                 format_count(record.allocations.size() - kMaxAllocations, "more context"));
  }

  void pictures(const ContendedRecord& record) {
    const std::vector<LinePicture> lines = line_pictures(record);
    for (size_t i = 0; i < std::min(lines.size(), kMaxPictures); ++i) {
      out_.print(
          "    {}\n",
          bold(style_,
               fmt::format("line at offset {}{}: r read, w written, b both", lines[i].offset,
                           lines[i].object == 0 ? "" : fmt::format(" of object {}", lines[i].object))));
      out_.print("      {:<{}}  0       8       16      24      32      40      48      56\n", "",
                 kThreadColumns);
      for (size_t row = 0; row < std::min(lines[i].rows.size(), kMaxRows); ++row)
        out_.print("      {:<{}}  {}\n", thread(lines[i].rows[row].profile), kThreadColumns,
                   lines[i].rows[row].bytes);
      if (lines[i].rows.size() > kMaxRows)
        out_.print("      and {}\n", format_count(lines[i].rows.size() - kMaxRows, "more thread"));
    }
    if (lines.size() > kMaxPictures)
      out_.print("    and {}\n", format_count(lines.size() - kMaxPictures, "more line"));
  }

  void sides(const ContendedRecord& record) {
    const bool has_neighbours = std::ranges::any_of(record.sides, [&](const ContendedRecord::Side& side) {
      return !side.name.empty() && side.name != record.name;
    });
    for (const ContendedRecord::Side& side : record.sides) {
      const std::vector<CodeFrame> frames = frames_of(tree_, side.context);
      const std::string place = has_neighbours && !side.name.empty()
                                    ? fmt::format("{}+{}", printable(side.name), side.offset)
                                    : std::to_string(side.offset);
      const std::string lead = fmt::format("      {:<{}}  {:<16} {:>6}  ", thread(side.profile),
                                           kThreadColumns, name_of(side.access), place);
      out_.write(row_ending_in(lead, frames.empty() ? format_counted(side) : format_call(frames), style_));
    }
  }

  const CallTree& tree_;
  const RunSummary& run_;
  const TextStyle style_;
  Output& out_;
};

Json side_as_json(const CallTree& tree, const ContendedRecord::Side& side) {
  const ProfileId& id = tree.database->profiles[side.profile].id;
  Json json{{"thread", id.thread}};
  json.update(fields_as_json<Json>(side, {"context", "profile"}));
  json["frames"] = frames_as_json(frames_of(tree, side.context));
  return json;
}

}  // namespace

void contention_as_text(const CallTree& tree, const RunSummary& run, TextStyle style, Output& out) {
  ContentionText(tree, run, style, out).write();
}

void contention_as_json(const CallTree& tree, const RunSummary& run, const ReportOptions& options,
                        Output& out) {
  Json json{{"schema", "prof-report/1"}, {"view", "contention"}, {"database", options.database}};
  json["units"] = {{"CPUTIME", "sec"}};
  json["findings"] = findings_as_json(contention_findings(tree, run));
  json["notes"] = contention_notes(run);
  json["sources"] = contention_sources(run);
  if (run.repairs.was_asked_for()) json["repairs"] = repairs_as_json(tree, run.repairs);
  json["data"] = Json::array();
  for (const ContendedRecord& record : run.contention) {
    Json data = fields_as_json<Json>(record);
    data["changes"] = Json::array();
    for (const auto& change : record.changes) data["changes"].push_back(fields_as_json<Json>(change));
    data["allocations"] = Json::array();
    for (const ContendedRecord::Allocation& allocation : record.allocations)
      data["allocations"].push_back({{"bytes", allocation.bytes},
                                     {"objects", allocation.objects},
                                     {"frames", frames_as_json(frames_of(tree, allocation.context))}});
    data["sides"] = Json::array();
    for (const ContendedRecord::Side& side : record.sides) data["sides"].push_back(side_as_json(tree, side));
    data["pictures"] = Json::array();
    for (const LinePicture& picture : line_pictures(record)) {
      Json rows = Json::array();
      for (const LinePicture::Row& row : picture.rows)
        rows.push_back({{"thread", tree.database->profiles[row.profile].id.thread}, {"bytes", row.bytes}});
      data["pictures"].push_back(
          {{"offset", picture.offset}, {"object", picture.object}, {"rows", std::move(rows)}});
    }
    json["data"].push_back(std::move(data));
  }
  out.write(json.dump(2, ' ', false, Json::error_handler_t::replace));
  out.write("\n");
}

void contention_as_csv(const CallTree& tree, const RunSummary& run, Output& out) {
  out.write(
      "finding,sharing,object,declared,object bytes,CPUTIME "
      "(sec),thread,access,place,offset,bytes,seen,function,file,line\n");
  size_t number = 0;
  for (const ContendedRecord& record : run.contention) {
    for (const ContendedRecord::Side& side : record.sides) {
      out.print("{},{},{},{},{},{:.6f},{},{},{},{},{},{},{}\n", number, name_of(record.sharing),
                csv_field(record.name), csv_field(record.declared), record.bytes, record.weight_s,
                csv_field(thread_label(*tree.database, side.profile)), name_of(side.access),
                csv_field(side.place), side.offset, side.bytes, side.accesses,
                leaf_as_csv(frames_of(tree, side.context)));
    }
    ++number;
  }
}

}  // namespace prof
