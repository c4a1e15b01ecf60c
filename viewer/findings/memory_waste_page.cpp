#include "viewer/findings/memory_waste_page.h"

#include <QStringList>
#include <algorithm>

#include "analysis/findings/memory_waste.h"
#include "analysis/views/run/format_waste.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"
#include "viewer/findings/links.h"
#include "viewer/source/source_file.h"

namespace prof::viewer {

namespace {

constexpr size_t kMaxRows = 200;  // with the largest shares; all findings are among them

Cell bytes_cell(uint64_t bytes) {
  const auto exact = static_cast<double>(bytes);
  return {QString::fromStdString(format_bytes(exact)), exact, QString("%L1 bytes").arg(bytes)};
}

}  // namespace

MemoryWastePage::MemoryWastePage(Document& document, QWidget* parent)
    : EvidencePage(document, {"waste", "share", "bytes", "accesses", "code"}, parent) {}

QString MemoryWastePage::reason_empty() const {
  const auto reason = reason_no_memory_waste(document().run());
  return reason ? QString::fromStdString(*reason) : QString();
}

void MemoryWastePage::fill() {
  const RunSummary& run = document().run();
  QStringList said;
  for (const WasteTotal& total : run.memory_waste.totals)
    said << html(format_waste_total(run.memory_waste, total) + ".");
  show_sentences(said.join("<br>"));
  rows_of_findings_.clear();
  lines_.clear();
  std::vector<WasteByLine> all = waste_by_line(document().measured_tree(), run);
  if (all.size() > kMaxRows) all.resize(kMaxRows);
  for (const WasteByLine& waste : all) add(waste);
}

void MemoryWastePage::add(const WasteByLine& waste) {
  const CallTree& tree = document().measured_tree();
  const Finding finding = memory_waste_finding(tree, document().run(), waste);
  const std::string what = format_waste_kind(waste.main->kind) + ": " + format_wasted_data(tree, *waste.main);
  const auto subject = std::ranges::find(finding.contexts, true, &FindingContext::is_subject);
  QStandardItem* const item =
      rows().add({what, share_cell(finding.values.at("share")), bytes_cell(waste.bytes),
                  count_cell(static_cast<double>(waste.count)), format_code(subject->frames)},
                 {subject->frames, details_of(finding)});
  rows_of_findings_.emplace_back(finding.id, item);
  for (const FindingContext& context : finding.contexts)
    rows().add({context.role, "", "", "", format_code(context.frames)}, {context.frames, {}}, item);
}

// Puts the two accesses side by side, each with its source line and its call path.
QString MemoryWastePage::details_of(const Finding& finding) {
  QString heads, lines, paths;
  for (size_t i = 0; i < 2; ++i) {
    const FindingContext& context = finding.contexts[i];
    heads += "<th align=\"left\" width=\"50%\">" + html(context.role) + "</th>";
    lines += "<td><code>" + source_of(context.frames) + "</code></td>";
    paths += "<td>" + linked_path(document(), context.frames) + "</td>";
  }
  return "<p>" + html(finding.sentence) + "</p><p><b>Change:</b> " + html(finding.advice) +
         "</p><table width=\"100%\"><tr>" + heads + "</tr><tr>" + lines + "</tr><tr>" + paths +
         "</tr></table>";
}

// Returns the text of the line; empty if it is not known.
QString MemoryWastePage::source_of(const std::vector<CodeFrame>& frames) {
  const std::optional<SourceLocation> location = location_of(document(), frames);
  if (!location) return {};
  const auto [known, is_new] = lines_.try_emplace(location->file);
  if (is_new) {
    const SourceFile& file = document().database().files[location->file];
    known->second = read_source(document().directory_of_file(location->file), file).text.split('\n');
  }
  const QStringList& lines = known->second;
  if (location->line == 0 || location->line > static_cast<uint32_t>(lines.size())) return {};
  return html(lines[static_cast<int>(location->line) - 1].trimmed().toStdString());
}

QModelIndex MemoryWastePage::row_of_finding(const QString& id) const {
  for (const auto& [of, item] : rows_of_findings_)
    if (of == id.toStdString()) return item->index();
  return {};
}

}  // namespace prof::viewer
