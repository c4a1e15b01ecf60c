#include "viewer/findings/links.h"

#include <QStringList>
#include <QUrlQuery>
#include <algorithm>

#include "analysis/views/tree/call_path.h"
#include "analysis/views/tree/format_code.h"
#include "analysis/words/numbers.h"
#include "viewer/options/view_options.h"

namespace prof::viewer {

namespace {

QString link(const QString& scheme, const QString& key, const QString& value, const QString& text) {
  QUrl url;
  url.setScheme(scheme);
  url.setPath(key.isEmpty() ? "-" : key);
  QUrlQuery query;
  query.addQueryItem("of", QUrl::toPercentEncoding(value));
  url.setQuery(query);
  return QString("<a href=\"%1\">%2</a>").arg(url.toString(QUrl::FullyEncoded).toHtmlEscaped(), text);
}

bool is_page(const QString& id) {
  return std::ranges::find(kPages, id.toStdString()) != kPages.end();
}

QString source_link(const Document& document, const SourceLocation& location) {
  if (!is_page("source")) return {};
  const QString text = html(base_name(document.tree().database->files[location.file].path)) + ":" +
                       QString::number(location.line);
  return link("source", QString::number(location.file), QString::number(location.line), text);
}

// Links to the line that the user can change, or else to the one with the cost. If neither has a known line,
// links to the instructions, but never to the caller of main().
QString code_link(const Document& document, const std::vector<CodeFrame>& frames) {
  if (frames.empty() || !is_page("source")) return {};
  std::vector<CodeFrame> telling;
  std::ranges::remove_copy_if(program_part(frames), std::back_inserter(telling), is_of_system);
  telling.push_back(frames.front());
  if (const auto location = location_of(document, telling)) return source_link(document, *location);
  if (!document.has_function(frames.front().function)) return {};  // the page would be empty
  return link("function", "source", QString::fromStdString(frames.front().function), "Instructions");
}

QString title_of_page(const QString& id) {
  return id.left(1).toUpper() + id.mid(1);
}

// Returns the function that the finding is about. For ranks, that is the function in which the slow ranks
// spend their time, not the one in which the others wait for them.
const CodeFrame* function_of(const Finding& finding) {
  const FindingContext* of = nullptr;
  for (const FindingContext& context : finding.contexts)
    if (!context.frames.empty() && (!of || (context.is_subject && !of->is_subject))) of = &context;
  return of ? &of->frames.front() : nullptr;
}

}  // namespace

QString html(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

std::optional<SourceLocation> location_of(const Document& document, const CodeFrame& frame) {
  if (frame.file.empty() || frame.line == 0) return {};
  const std::vector<SourceFile>& files = document.tree().database->files;
  for (uint32_t f = 0; f < files.size(); ++f)
    if (files[f].path == frame.file) return SourceLocation{f, frame.line};
  return {};
}

std::optional<SourceLocation> location_of(const Document& document, const std::vector<CodeFrame>& frames) {
  if (frames.empty()) return {};
  if (const auto location = location_of(document, telling_frame(frames))) return location;
  for (const CodeFrame& frame : frames)
    if (const auto location = location_of(document, frame)) return location;
  return {};
}

QString linked(const Document& document, const CodeFrame& frame) {
  const std::optional<SourceLocation> location = location_of(document, frame);
  const QString text = location ? source_link(document, *location) : QString();
  if (text.isEmpty()) return html(format_frame(frame));
  return html(frame.function) + " (" + text + ")";
}

QString linked_path(const Document& document, const std::vector<CodeFrame>& frames) {
  QString text;
  for (const CodeFrame& frame : frames)
    text += (text.isEmpty() ? "" : "<br>&nbsp;&nbsp;&#8592; ") + linked(document, frame);
  return text;
}

QString page_of_finding(FindingKind kind) {
  const std::string_view view = view_of(kind);
  return view == "ranks" ? QString("threads") : QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
}

QString links_of(const Document& document, const Finding& finding) {
  QStringList links;
  const QString page = page_of_finding(finding.kind);
  for (const FindingContext& context : finding.contexts) {
    const QString text = code_link(document, context.frames);
    if (!text.isEmpty() && !links.contains(text)) links << text;
    constexpr qsizetype kMaxLocations = 2;  // both threads' code
    if (links.size() == kMaxLocations) break;
  }
  const CodeFrame* const function = function_of(finding);
  const bool is_of_function = (page == "top-down" || page == "threads") && function;
  if (is_of_function && is_page(page) && document.has_function(function->function))
    links << link("function", page, QString::fromStdString(function->function), title_of_page(page));
  else if (is_page(page) && !is_of_function)
    links << link("finding", page, QString::fromStdString(finding.id), title_of_page(page));
  return links.isEmpty() ? QString() : "Show: " + links.join(" &middot; ");
}

void follow(Document& document, const QUrl& link) {
  const QString of = QUrlQuery(link).queryItemValue("of", QUrl::FullyDecoded);
  if (link.scheme() == "source") {
    const uint32_t file = link.path().toUInt();
    if (file < document.tree().database->files.size()) document.ask_for_source(file, of.toUInt());
  } else if (link.scheme() == "finding") {
    document.ask_for_finding(link.path(), of);
  } else if (link.scheme() == "function") {
    document.ask_for_page(link.path());
    document.ask_for_function(of.toStdString());
  }
}

}  // namespace prof::viewer
