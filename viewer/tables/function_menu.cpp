#include "viewer/tables/function_menu.h"

#include <array>
#include <utility>

namespace prof::viewer {

void add_pages_of_function(QMenu& menu, Document& document, std::function<void()> choose,
                           const QString& here) {
  static constexpr std::array kPagesOfFunctions = {
      std::pair{"top-down", "Show in Top-down"}, std::pair{"bottom-up", "Show in Bottom-up"},
      std::pair{"flat", "Show in Flat"}, std::pair{"flame-graph", "Show in Flame graph"},
      std::pair{"threads", "Show in Threads"}};
  for (const auto& [page, name] : kPagesOfFunctions)
    if (here != page)
      QObject::connect(menu.addAction(name), &QAction::triggered, &menu,
                       [&document, page = QString(page), choose] {
                         document.ask_for_page(page);
                         choose();
                       });
}

}  // namespace prof::viewer
