#include "viewer/compare/diff_page.h"

#include <QEvent>
#include <QUrlQuery>
#include <QVBoxLayout>
#include <cmath>

#include "analysis/views/compare/format_comparison.h"
#include "analysis/views/compare/significance.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/wording.h"
#include "viewer/compare/names.h"
#include "viewer/document/colours.h"
#include "viewer/document/other_run.h"
#include "viewer/document/words.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

namespace {

constexpr size_t kMaxOfEach = 12;   // functions that cost more, that cost less, and within noise
constexpr double kMinShare = 0.02;  // of the total, the threshold of `prof diff`

QString html(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString row(const QString& name, const QString& value) {
  return "<tr><td width=\"90\"><b>" + name + "</b></td><td>" + value + "</td></tr>";
}

QString link(const QString& page, uint32_t frame, const QString& text) {
  return QString("<a href=\"frame:%1?of=%2\">%3</a>").arg(page).arg(frame).arg(text);
}

QString source_link(const Database& database, const SourceLocation& location) {
  return QString("<a href=\"line:%1?of=%2\">%3</a>")
      .arg(location.file)
      .arg(location.line)
      .arg(html(format_location(database, location)));
}

// Returns a sentence that names both runs and how they are shown.
QString format_runs(const Document& document) {
  const CallTree& tree = document.tree();
  auto [before, after] = names_of(document.directory(), document.other_run()->directory);
  if (document.comparing().is_other_before) std::swap(before, after);
  QString text = row("before", before.toHtmlEscaped()) + row("after", after.toHtmlEscaped());
  for (size_t m = 0; m < tree.distinct_metrics(); ++m) {
    QString words = html(format_total_change(tree, m));
    if (const std::string scale = format_scale(tree, m); !scale.empty()) words += " &ndash; " + html(scale);
    text += row(m == 0 ? "in all" : "", words);
  }
  return "<table cellspacing=\"2\">" + text + "</table>";
}

double samples_of(const Database& database, const std::string& metric) {
  const RunSummary run = run_summary(database);
  const auto at = run.by_metric.find(metric);
  return at == run.by_metric.end() ? 0 : static_cast<double>(at->second.samples.value_or(0));
}

// Returns for each function whether it changed by more than noise between runs of the same program, as `prof
// diff` decides. Only functions with kMinShare of the total are judged.
std::vector<bool> are_beyond_chance(const Document& document, const std::vector<FunctionChange>& changes,
                                    double all_before, double all_after) {
  const std::string& metric = document.tree().metric(document.metric()).name;
  double before = samples_of(document.database(), metric),
         after = samples_of(*document.other_run()->database, metric);
  if (document.comparing().is_other_before) std::swap(before, after);
  std::vector<RowOfRuns> rows;
  std::vector<size_t> judged;
  for (size_t i = 0; i < changes.size(); ++i) {
    const Change& change = changes[i].exclusive;
    if (std::abs(change.difference()) < kMinShare * all_before) continue;
    judged.push_back(i);
    rows.push_back(
        {{sampled_cost(change.before, all_before, before)}, {sampled_cost(change.after, all_after, after)}});
  }
  std::vector<bool> are_beyond(changes.size(), false);
  const Judgement judgement = judge(rows);
  for (size_t r = 0; r < rows.size(); ++r) are_beyond[judged[r]] = judgement.rows[r].adjusted < kSignificant;
  return are_beyond;
}

QString sentence(const QPalette& palette, const Document& document, Rows& functions,
                 const FunctionChange& change, bool is_beyond_chance) {
  const CallTree& tree = document.tree();
  const size_t m = document.metric();
  const SourceLocation location =
      functions.location(change.frame, placed_by(tree, functions, change.frame, m));
  const int sign = !is_beyond_chance ? 0 : change.exclusive.difference() > 0 ? 1 : -1;
  QString text = QString("<tr><td width=\"80\" align=\"right\" bgcolor=\"%1\">%2&nbsp;</td><td>&nbsp;")
                     .arg(change_colour(palette, sign).name(),
                          html(format_difference(tree.metric(m), change.exclusive)));
  text += link("top-down", change.frame, html(frame_name(*tree.database, tree.frames[change.frame])));
  if (location.known()) text += " (" + source_link(*tree.database, location) + ")";
  text += ": " + html(format_function_change(tree, change, m)) + " &nbsp; ";
  text += link("bottom-up", change.frame, "Callers") + " &middot; " +
          link("flame-graph", change.frame, "Flame graph");
  return text + "</td></tr>";
}

}  // namespace

DiffPage::DiffPage(Document& document, QWidget* parent) : Page(document, parent), text_(new QTextBrowser) {
  text_->setOpenLinks(false);
  text_->document()->setDocumentMargin(fontMetrics().height());
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(text_);
  connect(text_, &QTextBrowser::anchorClicked, this, &DiffPage::follow);
  connect(&document, &Document::tree_changed, this, &DiffPage::renew);
  connect(&document, &Document::metric_changed, this, &DiffPage::renew);
}

QString DiffPage::reason_empty() const {
  return document().other_run() ? QString()
                                : "no other run is compared; choose one with File > Compare with..., drop "
                                  "its database with Ctrl held, or name it with --compare";
}

void DiffPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!is_filled_) renew();
}

void DiffPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) renew();  // the text contains colours
}

void DiffPage::renew() {
  is_filled_ = isVisible();
  if (is_filled_) fill();
}

void DiffPage::fill() {
  const CallTree& tree = document().tree();
  if (!tree.compared || tree.distinct_metrics() == 0) return text_->setHtml("<p>" + reason_empty() + "</p>");
  const size_t m = document().metric();
  const std::unique_ptr<Rows> functions = make_rows(Reading::Flat, tree);
  struct Part {
    explicit Part(QString words) : title(std::move(words)) {}
    QString title, rows;
    size_t count = 0;
    double cost = 0;
  };
  const QString name = html(tree.metric(m).name);
  Part more("Functions that take more " + name + " themselves"),
      less("Functions that take less " + name + " themselves"),
      chance("Within noise, or below 2 % of the total");
  const std::vector<FunctionChange> changes = changed_functions(tree, m);
  const size_t before = tree.compared->before(m), after = tree.compared->after(m);
  const std::vector<bool> are_beyond =
      are_beyond_chance(document(), changes, tree.totals[before], tree.totals[after]);
  for (size_t i = 0; i < changes.size(); ++i) {
    const double difference = changes[i].exclusive.difference();
    Part& part = !are_beyond[i] ? chance : difference > 0 ? more : less;
    part.cost += std::abs(difference);
    if (part.count++ < kMaxOfEach)
      part.rows += sentence(palette(), document(), *functions, changes[i], are_beyond[i]);
  }
  if (less.cost > more.cost) std::swap(more, less);  // the larger cost first
  QString text = format_runs(document());
  for (const Part* part : {&more, &less, &chance}) {
    if (part->count == 0) continue;
    text += "<h3>" + part->title + "</h3><table cellspacing=\"3\">" + part->rows + "</table>";
    if (part->count > kMaxOfEach)
      text += QString("<p>and %L1 more; see the page Flat</p>").arg(part->count - kMaxOfEach);
  }
  if (changes.empty()) text += "<p>No function takes more or less " + name + " than before.</p>";
  text_->setHtml(text);
}

void DiffPage::follow(const QUrl& link) {
  const uint32_t of = QUrlQuery(link).queryItemValue("of").toUInt();
  if (link.scheme() == "line") return document().ask_for_source(link.path().toUInt(), of);
  document().ask_for_page(link.path());
  document().ask_for_function(of);
}

}  // namespace prof::viewer
