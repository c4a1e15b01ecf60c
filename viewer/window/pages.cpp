#include "viewer/window/pages.h"

#include "viewer/findings/contention_page.h"
#include "viewer/findings/idleness_page.h"
#include "viewer/findings/locks_page.h"
#include "viewer/findings/stalls_page.h"
#include "viewer/findings/summary_page.h"
#include "viewer/threads/threads_page.h"

namespace prof::viewer {

std::unique_ptr<Page> make_page(const QString& id, Document& document) {
  if (id == "summary") return std::make_unique<SummaryPage>(document);
  if (id == "threads") return std::make_unique<ThreadsPage>(document);
  if (id == "idleness") return std::make_unique<IdlenessPage>(document);
  if (id == "contention") return std::make_unique<ContentionPage>(document);
  if (id == "locks") return std::make_unique<LocksPage>(document);
  if (id == "stalls") return std::make_unique<StallsPage>(document);
  return nullptr;
}

}  // namespace prof::viewer
