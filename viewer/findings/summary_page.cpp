#include "viewer/findings/summary_page.h"

#include <QDateTime>
#include <QEvent>
#include <QLocale>
#include <QScrollBar>
#include <QStringList>
#include <QVBoxLayout>

#include "analysis/views/run/format_repairs.h"
#include "analysis/views/run/format_run.h"
#include "analysis/views/tree/hot_path.h"
#include "analysis/words/numbers.h"
#include "viewer/document/colours.h"
#include "viewer/document/words.h"
#include "viewer/findings/links.h"

namespace prof::viewer {

namespace {

constexpr size_t kReasons = 4;
constexpr size_t kHotFunctions = 8;
constexpr size_t kCallers = 3;
constexpr double kWorthALine = 0.01;

QString line(const char* label, const QString& text) {
  if (text.isEmpty()) return {};
  return QString("<tr><td width=\"90\"><b>%1</b></td><td>%2</td></tr>").arg(label, text);
}

QString line(const char* label, const std::string& text) {
  return line(label, html(text));
}

QString explained(const std::string& text, const Reasons& reasons) {
  return text.empty() ? QString() : html(text + format_reasons(reasons, kReasons));
}

// Returns "25 November 2026, 00:02:52 UTC"; text that is not ISO 8601 is unchanged.
QString format_moment(const std::string& moment) {
  const QString text = QString::fromStdString(moment);
  const QDateTime time = QDateTime::fromString(text, Qt::ISODate);
  if (!time.isValid()) return text.toHtmlEscaped();
  return QLocale(QLocale::English).toString(time.toUTC(), "d MMMM yyyy, HH:mm:ss") + " UTC";
}

QString what_ran(const CallTree& tree, const RunSummary& run) {
  QString text = line("program", "<b>" + html(run.command) + "</b>" + html(format_ending(run)));
  text += line("ran", format_ran(run));
  text += line("began", format_moment(run.start));
  text += line("selected", format_selected(tree));
  text += line("sampled", format_sampled(tree, run));
  text += line("paused", format_paused(run));
  text += line("dropped", explained(format_dropped(run), run.dropped));
  if (run.stacks) text += line("stacks", explained(format_stacks(run), run.stacks->reasons));
  text += line("overhead", format_overhead(run));
  text += line("repaired", repairs_in_short(run.repairs));
  for (const Note& note : run.notes) text += line("note", note.text);
  return "<table cellspacing=\"2\">" + text + "</table>";
}

QColor colour_of(Severity severity, const QPalette& palette) {
  constexpr int kRed = 0, kAmber = 35, kBlue = 210;
  const int hue = severity == Severity::High ? kRed : severity == Severity::Medium ? kAmber : kBlue;
  return readable_on(palette.color(QPalette::Base), QColor::fromHsl(hue, 170, is_dark(palette) ? 150 : 95));
}

// A column with the same width in both lists.
QString share_column(double share, const QString& of) {
  QString text = "<td width=\"95\" align=\"right\">";
  if (share > 0) text += percent(share) + (of.isEmpty() ? "" : " " + of);
  return text + "&nbsp;&nbsp;</td>";
}

// Returns the meaning of the share. For call paths and unattributed time it is their cost, otherwise the
// largest saving by a change.
QString meaning_of_share(const Finding& finding) {
  const QString page = page_of_finding(finding.kind);
  return page.isEmpty() || page == "top-down" ? "spent" : "to save";
}

QString found(const Document& document, const Finding& finding, const QPalette& palette) {
  QString text = QString("<tr><td width=\"62\"><font color=\"%1\"><b>%2</b></font></td>")
                     .arg(colour_of(finding.severity, palette).name(), html(std::string(name_of(finding.severity))));
  text += share_column(finding.cost ? finding.cost->share_of_run : 0, meaning_of_share(finding));
  text += "<td>" + html(finding.sentence);
  // For findings about the measurement, the sentence ends with the advice.
  const bool is_said = finding.sentence.find(finding.advice) != std::string::npos;
  if (!is_said) text += "<br>" + html(finding.advice);
  if (const QString links = links_of(document, finding); !links.isEmpty()) text += "<br>" + links;
  return text + "</td></tr>";
}

CodeFrame as_frame(const CallTree& tree, uint32_t frame, const SourceLocation& location) {
  CodeFrame result;
  result.function = frame_name(*tree.database, tree.frames[frame]);
  if (location.file < tree.database->files.size()) {
    result.file = tree.database->files[location.file].path;
    result.line = location.line;
  }
  return result;
}

QString hot(const Document& document) {
  const CallTree& tree = document.tree();
  const size_t m = document.metric();
  QString text;
  for (const HotFunction& function : hot_functions(tree, kHotFunctions, m)) {
    const double share = tree.share(function.cost.exclusive, m);
    if (!text.isEmpty() && share < kWorthALine) break;
    text += "<tr><td width=\"62\"></td>" + share_column(share, {}) + "<td>" +
            linked(document, as_frame(tree, function.frame, function.location));
    for (size_t i = 0; i < std::min(kCallers, function.callers.size()); ++i)
      text += " &#8592; " +
              linked(document, as_frame(tree, function.callers[i].frame, function.callers[i].location));
    text += "</td></tr>";
  }
  if (text.isEmpty()) return {};
  const Metric& metric = tree.metric(m);
  return "<h3>Functions by self cost</h3><p>" + html(metric.name) + ", " + quantity(metric, tree.totals[m]) +
         " in all; heaviest line and main callers of each</p><table cellspacing=\"4\">" + text + "</table>";
}

}  // namespace

SummaryPage::SummaryPage(Document& document, QWidget* parent)
    : Page(document, parent), text_(new QTextBrowser) {
  text_->setOpenLinks(false);
  text_->document()->setDocumentMargin(fontMetrics().height());
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(text_);
  connect(text_, &QTextBrowser::anchorClicked, this,
          [this](const QUrl& link) { follow(this->document(), link); });
  connect(&document, &Document::tree_changed, this, &SummaryPage::renew);
  connect(&document, &Document::metric_changed, this, &SummaryPage::renew);
}

bool SummaryPage::is_complete() const {
  return search_ && search_->is_complete();
}

void SummaryPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!search_) {
    search_ = &FindingSearch::of(document());
    connect(search_, &FindingSearch::changed, this, &SummaryPage::renew);
  }
  if (!is_filled_) renew();
}

void SummaryPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && search_) renew();  // the text contains colours
}

void SummaryPage::renew() {
  is_filled_ = isVisible();
  if (is_filled_) fill();
}

void SummaryPage::fill() {
  QString text = what_ran(document().measured_tree(), document().run());
  QString findings;
  for (const Finding& finding : search_->findings()) findings += found(document(), finding, palette());
  if (!findings.isEmpty()) text += "<h3>Findings</h3><table cellspacing=\"4\">" + findings + "</table>";
  if (!search_->is_complete()) text += "<p><i>Searching for more ...</i></p>";
  if (document().chosen_time())
    text += "<p><i>Everything above covers the whole run, the functions below the selected time, " +
            document().format_chosen_time() + ", from traces.</i></p>";
  text += hot(document());
  const int scrolled = text_->verticalScrollBar()->value();
  text_->setHtml(text);
  text_->verticalScrollBar()->setValue(scrolled);
}

}  // namespace prof::viewer
