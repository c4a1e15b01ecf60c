#include "viewer/window/choose.h"

#include <algorithm>

#include "analysis/views/selection.h"

namespace prof::viewer {

void choose(Document& document, const ViewOptions& options) {
  if (!options.threads.empty())
    document.choose_threads(select(document.database(), {}, options.threads).profiles);
  if (options.metric.empty()) return;
  const uint32_t metric = select(document.database(), {options.metric}, {}).metrics.front();
  const std::vector<uint32_t>& shown = document.tree().selection.metrics;
  const auto at = std::find(shown.begin(), shown.end(), metric);
  if (at != shown.end()) return document.choose_metric(static_cast<size_t>(at - shown.begin()));
  throw SelectionError(SelectionFailure::UnknownMetric,
                       options.metric + " is zero everywhere: there is nothing to show of it");
}

}  // namespace prof::viewer
