#pragma once
// Links in texts of pages: to source lines, functions and other pages.

#include <QString>
#include <QUrl>
#include <optional>
#include <string>
#include <vector>

#include "analysis/findings/finding.h"
#include "analysis/views/tree/source_locations.h"
#include "viewer/document/document.h"

namespace prof::viewer {

// Returns the line, which the source page can show, or nothing if the frame has none.
std::optional<SourceLocation> location_of(const Document& document, const CodeFrame& frame);

// Returns the most relevant line of a call path: one in the program's own code, if there is one.
std::optional<SourceLocation> location_of(const Document& document, const std::vector<CodeFrame>& frames);

QString html(const std::string& text);  // escaped

// Returns "late_wakeup (stall.cpp:40)" with the location as a link, if there is one.
QString linked(const Document& document, const CodeFrame& frame);
// Returns a call path with the innermost frame first, one per line; empty for an empty path.
QString linked_path(const Document& document, const std::vector<CodeFrame>& frames);

// Returns the page with the evidence of a finding of this kind; empty if there is none.
QString page_of_finding(FindingKind kind);
// Returns "Show it: hot_loop.cpp:31 · Top-down": links to the places that show a finding; empty if there are
// none.
QString links_of(const Document& document, const Finding& finding);

// Follows a link made by the functions above.
void follow(Document& document, const QUrl& link);

}  // namespace prof::viewer
