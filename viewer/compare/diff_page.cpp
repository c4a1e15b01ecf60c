#include "viewer/compare/diff_page.h"

#include <QEvent>
#include <QUrlQuery>
#include <QVBoxLayout>

#include "analysis/views/comparison_in_words.h"
#include "analysis/views/wording.h"
#include "viewer/document/colours.h"
#include "viewer/document/other_run.h"
#include "viewer/document/words.h"
#include "viewer/tables/rows.h"

namespace prof::viewer {

namespace {

constexpr size_t kMostOfEach = 12;  // functions that take more, and that take less

QString html(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString row(const QString& name, const QString& value) {
  return "<tr><td width=\"90\"><b>" + name + "</b></td><td>" + value + "</td></tr>";
}

QString link(const QString& page, uint32_t frame, const QString& text) {
  return QString("<a href=\"frame:%1?of=%2\">%3</a>").arg(page).arg(frame).arg(text);
}

QString source_link(const Database& database, const Place& place) {
  return QString("<a href=\"line:%1?of=%2\">%3</a>")
      .arg(place.file)
      .arg(place.line)
      .arg(html(words_for_place(database, place)));
}

// Which run is which, and how they are shown.
QString runs_in_words(const Document& document) {
  const CallTree& tree = document.tree();
  QString opened = html(document.directory().string()),
          other = html(document.other_run()->directory.string());
  if (document.comparing().is_other_before) std::swap(opened, other);
  QString text = row("before", opened) + row("after", other);
  for (size_t m = 0; m < tree.distinct_metrics(); ++m) {
    QString words = html(total_in_words(tree, m));
    if (const std::string scale = scale_in_words(tree, m); !scale.empty()) words += " &ndash; " + html(scale);
    text += row(m == 0 ? "in all" : "", words);
  }
  return "<table cellspacing=\"2\">" + text + "</table>";
}

QString sentence(const QPalette& palette, const Document& document, Rows& functions,
                 const FunctionChange& change) {
  const CallTree& tree = document.tree();
  const size_t m = document.metric();
  const Place place = functions.place(change.frame, placed_by(tree, functions, change.frame, m));
  const int sign = change.exclusive.difference() > 0 ? 1 : -1;
  QString text = QString("<tr><td width=\"80\" align=\"right\" bgcolor=\"%1\">%2&nbsp;</td><td>&nbsp;")
                     .arg(change_colour(palette, sign).name(),
                          html(words_for_difference(tree.metric(m), change.exclusive)));
  text += link("top-down", change.frame, html(frame_name(*tree.database, tree.frames[change.frame])));
  if (place.known()) text += " (" + source_link(*tree.database, place) + ")";
  text += ": " + html(change_in_words(tree, change, m)) + " &nbsp; ";
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

QString DiffPage::why_empty() const {
  return document().other_run()
             ? QString()
             : "no other run is compared with this one: choose one by File: Compare with..., drop "
               "its database with Ctrl held, or give it to --compare";
}

void DiffPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  if (!is_filled_) renew();
}

void DiffPage::changeEvent(QEvent* event) {
  Page::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) renew();  // colours are in the text
}

void DiffPage::renew() {
  is_filled_ = isVisible();
  if (is_filled_) fill();
}

void DiffPage::fill() {
  const CallTree& tree = document().tree();
  if (!tree.compared || tree.distinct_metrics() == 0) return text_->setHtml("<p>" + why_empty() + "</p>");
  const size_t m = document().metric();
  const std::unique_ptr<Rows> functions = make_rows(Reading::Flat, tree);
  QString more, less;
  size_t more_count = 0, less_count = 0;
  for (const FunctionChange& change : changed_functions(tree, m)) {
    const bool is_more = change.exclusive.difference() > 0;
    size_t& count = is_more ? more_count : less_count;
    if (count++ < kMostOfEach) (is_more ? more : less) += sentence(palette(), document(), *functions, change);
  }
  const auto part = [&](const QString& title, const QString& rows, size_t count) {
    if (count == 0) return QString();
    const size_t left = count > kMostOfEach ? count - kMostOfEach : 0;
    return "<h3>" + title + "</h3><table cellspacing=\"3\">" + rows + "</table>" +
           (left > 0 ? QString("<p>and %L1 more; the page Flat has all of them</p>").arg(left) : QString());
  };
  const QString name = html(tree.metric(m).name);
  QString text = runs_in_words(document());
  text += part("Functions that take more " + name + " themselves", more, more_count);
  text += part("Functions that take less " + name + " themselves", less, less_count);
  if (more_count + less_count == 0) text += "<p>No function takes more or less " + name + " than before.</p>";
  text_->setHtml(text);
}

void DiffPage::follow(const QUrl& link) {
  const uint32_t of = QUrlQuery(link).queryItemValue("of").toUInt();
  if (link.scheme() == "line") return document().ask_for_source(link.path().toUInt(), of);
  document().ask_for_page(link.path());
  document().ask_for_function(of);
}

}  // namespace prof::viewer
