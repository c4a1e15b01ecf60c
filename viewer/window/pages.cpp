#include "viewer/window/pages.h"

#include "viewer/compare/diff_page.h"
#include "viewer/findings/contention_page.h"
#include "viewer/findings/idleness_page.h"
#include "viewer/findings/locks_page.h"
#include "viewer/findings/memory_waste_page.h"
#include "viewer/findings/stalls_page.h"
#include "viewer/findings/summary_page.h"
#include "viewer/flame/flame_page.h"
#include "viewer/source/source_page.h"
#include "viewer/tables/table_page.h"
#include "viewer/threads/threads_page.h"
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
  if (id == "threads") return std::make_unique<ThreadsPage>(document);
  if (id == "idleness") return std::make_unique<IdlenessPage>(document);
  if (id == "contention") return std::make_unique<ContentionPage>(document);
  if (id == "locks") return std::make_unique<LocksPage>(document);
  if (id == "memory-waste") return std::make_unique<MemoryWastePage>(document);
  if (id == "stalls") return std::make_unique<StallsPage>(document);
  if (id == "diff") return std::make_unique<DiffPage>(document);
  return nullptr;
}

}  // namespace prof::viewer
