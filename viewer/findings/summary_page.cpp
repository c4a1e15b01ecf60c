#include "viewer/findings/summary_page.h"

#include <QVBoxLayout>

#include "analysis/views/findings.h"
#include "analysis/views/wording.h"

namespace prof::viewer {

namespace {

QString html(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString line(const QString& label, const QString& text) {
  return "<tr><td><b>" + label + "</b>&nbsp;&nbsp;</td><td>" + text + "</td></tr>";
}

QString what_ran(const RunSummary& run) {
  QString text = line("program", html(run.command));
  QString ran;
  if (run.wall_s) ran += html(words_for_duration(*run.wall_s)) + ", ";
  if (run.cpu_s) ran += html(words_for_duration(*run.cpu_s)) + " of CPU time, ";
  ran += html(words_for_count(run.threads, "thread"));
  if (!run.host.empty()) ran += " on " + html(run.host);
  text += line("ran", ran);
  for (const std::string& note : run.degradations) text += line("note", html(note));
  return "<table>" + text + "</table>";
}

QString what_was_found(const std::vector<Finding>& findings) {
  QString text;
  for (const Finding& finding : findings) text += "<li>" + html(finding.sentence) + "</li>";
  return text.isEmpty() ? QString() : "<h3>Findings</h3><ul>" + text + "</ul>";
}

}  // namespace

SummaryPage::SummaryPage(Document& document, QWidget* parent)
    : Page(document, parent), text_(new QTextBrowser) {
  text_->setOpenLinks(false);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(text_);
  connect(&document, &Document::tree_changed, this, &SummaryPage::fill);
  fill();
}

void SummaryPage::fill() {
  const RunSummary& run = document().run();
  text_->setHtml(what_ran(run) + what_was_found(prof::find(document().tree(), run)));
}

}  // namespace prof::viewer
