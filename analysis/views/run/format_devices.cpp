#include "analysis/views/run/format_devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/words/numbers.h"

namespace prof {

std::string format_device(const RunSummary& run, const DeviceUse& use) {
  std::string text = fmt::format("device {}: {}", use.device, use.name);
  if (!use.api.empty()) text += fmt::format(", {}", use.api);
  if (!use.driver.empty()) text += fmt::format(" ({})", use.driver);
  if (use.rank >= 0) text += fmt::format(", rank {}", use.rank);
  if (use.process >= 0) text += fmt::format(", process {}", use.process);
  if (!use.host.empty() && use.host != run.host) text += " on " + use.host;
  return text;
}

std::string format_device_shares(const DeviceUse& use) {
  const auto share = [&](double seconds) {
    return format_percent(use.window_s > 0 ? seconds / use.window_s : 0);
  };
  const std::string under_way =
      use.under_way_s > 0 ? fmt::format(", under way at the end {}", share(use.under_way_s)) : "";
  return fmt::format("of {} in use: CPU idle {}, device idle {}, overlap {}{}", format_duration(use.window_s),
                     share(use.cpu_waits_s), share(use.idle_s()), share(use.overlap_s), under_way);
}

std::vector<DeviceTime> device_times(const DeviceUse& use) {
  std::vector<DeviceTime> times = {{"busy", use.busy_s, "a kernel, copy or fill of this process was active"},
                                   {"kernels", use.kernels_s, ""},
                                   {"copies", use.copies_s, "and fills"}};
  if (const double others_s = use.occupied_s - use.busy_s; others_s > 0)
    times.push_back({"others", others_s, "only other processes used it"});
  if (use.under_way_s > 0)
    times.push_back({"under way", use.under_way_s, "tasks that did not complete; neither busy nor idle"});
  times.insert(times.end(), {{"idle", use.idle_s(), "no process had a task for it"},
                             {"CPU idle", use.cpu_waits_s, "a thread waited for it"},
                             {"overlap", use.overlap_s, "it was busy and no thread waited for it"}});
  return times;
}

size_t processes_that_share(const RunSummary& run, const DeviceUse& device) {
  return static_cast<size_t>(std::ranges::count_if(run.devices, [&](const DeviceUse& use) {
    return use.host == device.host && use.uuid == device.uuid && use.api == device.api;
  }));
}

}  // namespace prof
