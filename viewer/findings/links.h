#pragma once
// Links in what pages say: to source lines, functions and other pages.

#include <QString>
#include <QUrl>
#include <optional>
#include <string>
#include <vector>

#include "analysis/views/findings.h"
#include "viewer/document/document.h"

namespace prof::viewer {

// A line that the source page can show: an index into the files of the tree's database.
struct SourcePlace {
  uint32_t file = 0;
  uint32_t line = 0;
};

// Nothing where the frame has no line.
std::optional<SourcePlace> place_of(const Document& document, const FindingFrame& frame);

// The line that says most of a call path: one of the program's own code, where there is one.
std::optional<SourcePlace> place_of(const Document& document, const std::vector<FindingFrame>& frames);

QString html(const std::string& text);  // escaped

// "late_wakeup (stall.cpp:40)" with the place as a link, where it has one.
QString linked(const Document& document, const FindingFrame& frame);
// A call path, the innermost frame first, a line each; empty for an empty one.
QString linked_path(const Document& document, const std::vector<FindingFrame>& frames);

// The page with the evidence of a finding of this kind; empty where there is none.
QString page_of_finding(FindingKind kind);
// "Show it: hot_loop.cpp:31 · Top-down": links to where a finding can be looked at; empty where there is
// none.
QString links_of(const Document& document, const Finding& finding);

// Does what a link of the above says.
void follow(Document& document, const QUrl& link);

}  // namespace prof::viewer
