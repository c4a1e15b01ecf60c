#include "viewer/window/pages.h"

#include "viewer/findings/summary_page.h"

namespace prof::viewer {

std::unique_ptr<Page> make_page(const QString& id, Document& document) {
  if (id == "summary") return std::make_unique<SummaryPage>(document);
  return nullptr;
}

}  // namespace prof::viewer
