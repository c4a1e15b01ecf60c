#include "viewer/findings/contention_page.h"

#include <QScrollArea>
#include <QStringList>
#include <algorithm>
#include <functional>

#include "analysis/findings/contention.h"
#include "analysis/views/run/format_contention.h"
#include "analysis/views/run/format_repairs.h"
#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"
#include "viewer/document/words.h"
#include "viewer/findings/links.h"

namespace prof::viewer {

namespace {

constexpr int kRecordRole = Qt::UserRole + 30;  // index into RunSummary::contention

QString paragraph(const QString& label, const QString& text) {
  return text.isEmpty() ? QString() : "<p><b>" + label + "</b> " + text + "</p>";
}

Cell cost_cell(const FindingCost& cost) {
  if (cost.unit == "sec") return seconds_cell(cost.value);
  const QString text = quantity({}, cost.value) + " " + QString::fromStdString(cost.unit);
  return {text, cost.value, text + ": " + QString::fromStdString(cost.basis)};
}

size_t threads_of(const ContendedRecord& record) {
  std::vector<uint32_t> profiles;
  for (const ContendedRecord::Side& side : record.sides)
    if (std::ranges::find(profiles, side.profile) == profiles.end()) profiles.push_back(side.profile);
  return profiles.size();
}

}  // namespace

ContentionPage::ContentionPage(Document& document, QWidget* parent)
    : EvidencePage(document, {"data", "verdict", "of CPU time", "cost", "seen", "code"}, parent),
      picture_(new LinePictureView(document)) {
  auto* const scrolled = new QScrollArea;
  scrolled->setWidgetResizable(true);
  scrolled->setWidget(picture_);
  add_beside_details(scrolled, picture_);
  connect(&rows(), &EvidenceTable::row_chosen, this, &ContentionPage::show_picture);
}

QString ContentionPage::reason_empty() const {
  const auto reason = reason_no_contention(document().run());
  return reason ? QString::fromStdString(*reason) : QString();
}

void ContentionPage::fill() {
  const RunSummary& run = document().run();
  findings_ = contention_findings(document().measured_tree(), run);
  items_.clear();
  size_t number = 0;
  for (const ContendedRecord& record : run.contention)
    if (!record.sides.empty()) add_record(record, findings_[number++]);
  QStringList said;
  if (findings_.empty()) said << "no contention was found";
  for (const std::string& repair : format_repairs(document().measured_tree(), run.repairs))
    said << html(repair);
  for (const std::string& note : contention_notes(run)) said << html(note);
  QStringList sources;
  for (const std::string& source : contention_sources(run)) sources << html(source);
  if (!sources.isEmpty()) said << "contention sources: " + sources.join("; ");
  show_sentences(said.join("<br>"));
  if (findings_.empty()) picture_->show_record(nullptr);
}

void ContentionPage::add_record(const ContendedRecord& record, const Finding& finding) {
  const CallTree& tree = document().measured_tree();
  QStringList code;
  double seen = 0;
  for (const ContendedRecord::Side& side : record.sides) {
    seen += static_cast<double>(side.accesses);
    if (const std::vector<CodeFrame> frames = frames_of(tree, side.context); !frames.empty())
      code << html("thread " + thread_label(document().database(), side.profile) + ": ") +
                  linked(document(), telling_frame(frames));
  }
  code.removeDuplicates();
  QString details = paragraph("", html(finding.sentence)) + paragraph("Code:", code.join("<br>")) +
                    paragraph("Change:", html(finding.advice)) + paragraph("Repair:", html(record.repair));
  for (const ContendedRecord::Allocation& allocation : record.allocations)
    details += paragraph("Allocated:", linked_path(document(), frames_of(tree, allocation.context)));
  Evidence evidence{{}, details};
  if (!finding.contexts.empty()) evidence.frames = finding.contexts.front().frames;
  Cell accesses = count_cell(seen);
  accesses.tip += " accesses of " + QString::fromStdString(format_count(threads_of(record), "thread"));
  QStandardItem* const item =
      rows().add({format_object(tree, record), std::string(name_of(record.sharing)) + " sharing",
                  share_cell(finding.cost->share_of_run), cost_cell(*finding.cost), accesses, ""},
                 std::move(evidence));
  item->setData(QVariant::fromValue<qulonglong>(&record - document().run().contention.data()), kRecordRole);
  items_.push_back(item);
  const double cpu_s = document().run().cpu_s.value_or(0);
  std::vector<ContendedRecord::Side> sides = record.sides;
  std::ranges::stable_sort(sides, std::greater(), &ContendedRecord::Side::weight_s);
  for (const ContendedRecord::Side& side : sides) {
    const std::vector<CodeFrame> frames = frames_of(tree, side.context);
    rows().add(
        {"thread " + thread_label(document().database(), side.profile) + ": " + format_part(record, side),
         std::string(name_of(side.access)), share_cell(cpu_s > 0 ? side.weight_s / cpu_s : 0),
         seconds_cell(side.weight_s), count_cell(static_cast<double>(side.accesses)),
         frames.empty() ? format_counted(side) : format_code(frames)},
        {frames, {}}, item);
  }
  rows().expand(item->index());
}

QModelIndex ContentionPage::row_of_finding(const QString& id) const {
  for (size_t i = 0; i < findings_.size(); ++i)
    if (QString::fromStdString(findings_[i].id) == id) return items_[i]->index();
  return {};
}

void ContentionPage::show_picture(QModelIndex row) {
  while (row.parent().isValid()) row = row.parent();
  const QVariant record = row.siblingAtColumn(0).data(kRecordRole);
  picture_->show_record(record.isValid() ? &document().run().contention[record.toULongLong()] : nullptr);
}

}  // namespace prof::viewer
