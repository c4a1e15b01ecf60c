#include "prof/export/firefox_markers.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/words/numbers.h"

namespace prof {
namespace {

// Indexed by FirefoxMarkers::Kind. Keys of the data are the names of the fields.
constexpr const char* kTypes[] = {"DeviceTask", "DeviceSubmission", "DeviceWait"};
constexpr char kSchema[] =
    R"([{"name":"DeviceTask","display":["marker-chart","marker-table","timeline-overview"],)"
    R"("tooltipLabel":"{marker.name}","tableLabel":"{marker.name}","chartLabel":"{marker.name}","fields":[)"
    R"({"key":"thread","label":"Submitted by","format":"unique-string"},)"
    R"({"key":"latency","label":"Submitted before its start","format":"duration"},)"
    R"({"key":"flow","label":"Submission","format":"terminating-flow-id"}]},)"
    R"({"name":"DeviceSubmission","display":["marker-chart","marker-table"],)"
    R"("tooltipLabel":"submit {marker.name}","tableLabel":"submit {marker.name}",)"
    R"("chartLabel":"submit {marker.name}","fields":[{"key":"flow","label":"Task","format":"flow-id"}]},)"
    R"({"name":"DeviceWait","display":["marker-chart","marker-table","timeline-overview"],)"
    R"("tooltipLabel":"{marker.name}","tableLabel":"{marker.name}","chartLabel":"{marker.name}","fields":[)"
    R"({"key":"latency","label":"Before the device began","format":"duration"},)"
    R"({"key":"gap","label":"Between its tasks","format":"duration"},)"
    R"({"key":"wake","label":"After it was done","format":"duration"}]}])";

// The format's numbers for a marker's extent.
constexpr int kInstant = 0, kInterval = 1;

double milliseconds_in(uint64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

}  // namespace

FirefoxMarkers::FirefoxMarkers(const CallTree& tree, uint64_t start_ns, const Text& text)
    : tree_(tree), start_ns_(start_ns) {
  std::vector<bool> is_selected(tree.database->profiles.size());
  for (const uint32_t profile : tree.selection.profiles) is_selected[profile] = true;
  if (tree.database->launches) read_launches(is_selected, text);
  if (tree.database->device_waits) read_waits(is_selected, text);
  for (auto& [profile, markers] : markers_) std::ranges::stable_sort(markers, {}, &Marker::begin_ns);
}

void FirefoxMarkers::read_launches(const std::vector<bool>& is_selected, const Text& text) {
  const Database& database = *tree_.database;
  LaunchSource next = database.launches;
  std::vector<DeviceLaunch> block;
  uint64_t flows = 0;
  while (next(block)) {
    for (const DeviceLaunch& launch : block) {
      if (!is_selected[launch.queue]) continue;
      const uint32_t name = text(database.task_names[launch.task]);
      Marker task{Kind::Task, name, launch.start_ns, launch.end_ns, kNone, kNone, 0, 0, 0};
      task.launch_latency_ns = launch.start_ns - std::min(launch.start_ns, launch.submit_ns);
      if (launch.thread != kNone) task.thread = text(thread_label(database, launch.thread));
      if (launch.thread != kNone && is_selected[launch.thread]) {
        task.flow = text(fmt::format("task {}", ++flows));
        markers_[launch.thread].push_back(
            {Kind::Submission, name, launch.submit_ns, launch.submit_ns, kNone, task.flow, 0, 0, 0});
      }
      markers_[launch.queue].push_back(task);
    }
  }
}

void FirefoxMarkers::read_waits(const std::vector<bool>& is_selected, const Text& text) {
  const Database& database = *tree_.database;
  DeviceWaitSource next = database.device_waits;
  std::vector<WaitForDevice> block;
  while (next(block)) {
    for (const WaitForDevice& wait : block) {
      if (!is_selected[wait.thread]) continue;
      markers_[wait.thread].push_back({Kind::Wait, text(database.wait_names[wait.call]), wait.begin_ns,
                                       wait.end_ns, kNone, kNone, wait.launch_latency_ns, wait.gap_ns,
                                       wait.wake_latency_ns});
    }
  }
}

double FirefoxMarkers::milliseconds(uint64_t time_ns) const {
  return static_cast<double>(static_cast<int64_t>(time_ns - start_ns_)) / 1e6;
}

void FirefoxMarkers::write_schema(Output& out) {
  out.write(kSchema);
}

void FirefoxMarkers::write_data(const Marker& marker, Output& out) const {
  out.print("{{\"type\":\"{}\"", kTypes[static_cast<size_t>(marker.kind)]);
  if (marker.thread != kNone) out.print(",\"thread\":{}", marker.thread);
  if (marker.flow != kNone) out.print(",\"flow\":{}", marker.flow);
  if (marker.kind != Kind::Submission)
    out.print(",\"latency\":{}", milliseconds_in(marker.launch_latency_ns));
  if (marker.kind == Kind::Wait)
    out.print(",\"gap\":{},\"wake\":{}", milliseconds_in(marker.gap_ns),
              milliseconds_in(marker.wake_latency_ns));
  out.write("}");
}

void FirefoxMarkers::write(uint32_t profile, Output& out) const {
  static const std::vector<Marker> kNoMarkers;
  const auto found = markers_.find(profile);
  const std::vector<Marker>& markers = found == markers_.end() ? kNoMarkers : found->second;
  const auto column = [&](const char* name, const auto& write_item) {
    out.print("\"{}\":[", name);
    for (size_t i = 0; i < markers.size(); ++i) {
      if (i > 0) out.write(",");
      write_item(markers[i]);
    }
    out.write("],");
  };
  out.write("{");
  column("data", [&](const Marker& marker) { write_data(marker, out); });
  column("name", [&](const Marker& marker) { out.print("{}", marker.name); });
  column("startTime", [&](const Marker& marker) { out.print("{}", milliseconds(marker.begin_ns)); });
  column("endTime", [&](const Marker& marker) {
    marker.kind == Kind::Submission ? out.write("null") : out.print("{}", milliseconds(marker.end_ns));
  });
  column("phase", [&](const Marker& marker) {
    out.print("{}", marker.kind == Kind::Submission ? kInstant : kInterval);
  });
  column("category", [&](const Marker&) { out.write("0"); });
  out.print("\"length\":{}}}", markers.size());
}

}  // namespace prof
