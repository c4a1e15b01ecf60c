#include "viewer/window/pages.h"

#include "viewer/findings/summary_page.h"
#include "viewer/flame/flame_page.h"
#include "viewer/source/source_page.h"
#include "viewer/tables/table_page.h"
#include "viewer/timeline/timeline_page.h"

namespace prof::viewer {

std::unique_ptr<Page> make_page(const QString& id, Document& document) {
  if (id == "summary") return std::make_unique<SummaryPage>(document);
  if (id == "top-down") return std::make_unique<TablePage>(Reading::TopDown, document);
  if (id == "bottom-up") return std::make_unique<TablePage>(Reading::BottomUp, document);
  if (id == "flat") return std::make_unique<TablePage>(Reading::Flat, document);
  if (id == "flame-graph") return std::make_unique<FlamePage>(document);
  if (id == "source") return std::make_unique<SourcePage>(document);
  if (id == "timeline") return std::make_unique<TimelinePage>(document);
  return nullptr;
}

}  // namespace prof::viewer
