#include "viewer/window/pages.h"

#include "viewer/findings/summary_page.h"
#include "viewer/timeline/timeline_page.h"

namespace prof::viewer {

std::unique_ptr<Page> make_page(const QString& id, Document& document) {
  if (id == "summary") return std::make_unique<SummaryPage>(document);
  if (id == "timeline") return std::make_unique<TimelinePage>(document);
  return nullptr;
}

}  // namespace prof::viewer
