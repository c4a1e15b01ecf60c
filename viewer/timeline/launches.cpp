#include "viewer/timeline/launches.h"

#include <algorithm>
#include <tuple>

#include "analysis/database/database.h"

namespace prof::viewer {

namespace {

// For all_in(): tasks that are checked, most of which may belong to rows that are not shown.
constexpr size_t kMaxLookedAt = 20'000;

}  // namespace

LaunchTable::LaunchTable(const LaunchSource& source, const std::atomic<bool>& is_cancelled, size_t most) {
  LaunchSource next = source;  // a copy with its own position
  for (std::vector<DeviceLaunch> block; next && next(block) && !is_cut_;) {
    if (is_cancelled) {
      launches_.clear();
      return;
    }
    const size_t taken = std::min(block.size(), most - launches_.size());
    launches_.insert(launches_.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(taken));
    is_cut_ = taken < block.size();
  }
  std::sort(launches_.begin(), launches_.end(), [](const DeviceLaunch& one, const DeviceLaunch& other) {
    return std::tie(one.queue, one.start_ns, one.end_ns) <
           std::tie(other.queue, other.start_ns, other.end_ns);
  });
  last_end_.resize(launches_.size());
  first_submitted_.resize(launches_.size());
  for (size_t begin = 0; begin < launches_.size();) {
    size_t end = begin;
    uint64_t last = 0, first = UINT64_MAX;
    for (; end < launches_.size() && launches_[end].queue == launches_[begin].queue; ++end)
      last_end_[end] = last = std::max(last, launches_[end].end_ns);
    for (size_t i = end; i-- > begin;) first_submitted_[i] = first = std::min(first, launches_[i].submit_ns);
    queues_.push_back({launches_[begin].queue, begin, end});
    begin = end;
  }
  for (uint32_t i = 0; i < launches_.size(); ++i)
    if (launches_[i].thread != kNone) by_thread_.push_back(i);
  std::sort(by_thread_.begin(), by_thread_.end(), [&](uint32_t one, uint32_t other) {
    return std::tie(launches_[one].thread, launches_[one].submit_ns) <
           std::tie(launches_[other].thread, launches_[other].submit_ns);
  });
}

LaunchTable::Found LaunchTable::run_by(uint32_t queue, TimeRange range, size_t most) const {
  Found found;
  const auto of = std::lower_bound(queues_.begin(), queues_.end(), queue,
                                   [](const Queue& one, uint32_t profile) { return one.profile < profile; });
  if (of == queues_.end() || of->profile != queue) return found;
  // Finds the first one that ends after the start; all before it end earlier.
  const auto ends = last_end_.begin();
  const auto first = std::upper_bound(ends + static_cast<ptrdiff_t>(of->begin),
                                      ends + static_cast<ptrdiff_t>(of->end), range.begin_ns);
  for (auto i = static_cast<size_t>(first - ends); i < of->end && found.size() < most; ++i) {
    if (launches_[i].start_ns >= range.end_ns) break;
    if (launches_[i].end_ns > range.begin_ns) found.push_back(&launches_[i]);
  }
  return found;
}

LaunchTable::Found LaunchTable::submitted_by(uint32_t thread, TimeRange range, size_t most) const {
  Found found;
  const auto first = std::lower_bound(by_thread_.begin(), by_thread_.end(), std::pair(thread, range.begin_ns),
                                      [&](uint32_t i, const auto& key) {
                                        return std::pair(launches_[i].thread, launches_[i].submit_ns) < key;
                                      });
  for (auto i = first; i != by_thread_.end() && found.size() < most; ++i) {
    const DeviceLaunch& launch = launches_[*i];
    if (launch.thread != thread || launch.submit_ns >= range.end_ns) break;
    found.push_back(&launch);
  }
  return found;
}

LaunchTable::Found LaunchTable::all_in(TimeRange range, const std::vector<bool>& profiles,
                                       size_t most) const {
  Found found;
  const auto has = [&](uint32_t profile) { return profile < profiles.size() && profiles[profile]; };
  size_t looked_at = 0;
  for (const Queue& queue : queues_) {
    if (!has(queue.profile)) continue;
    const auto first =
        std::lower_bound(launches_.begin() + static_cast<ptrdiff_t>(queue.begin),
                         launches_.begin() + static_cast<ptrdiff_t>(queue.end), range.begin_ns,
                         [](const DeviceLaunch& launch, uint64_t time) { return launch.start_ns < time; });
    for (auto i = static_cast<size_t>(first - launches_.begin()); i < queue.end; ++i) {
      if (first_submitted_[i] >= range.end_ns) break;
      if (++looked_at > kMaxLookedAt) return {};
      const DeviceLaunch& launch = launches_[i];
      if (launch.submit_ns >= range.end_ns || !has(launch.thread)) continue;
      if (found.size() == most) return {};
      found.push_back(&launch);
    }
  }
  return found;
}

LaunchReader::LaunchReader(const Database& database, QObject* parent) : QObject(parent) {
  if (!database.launches) return;
  reader_ = std::thread([this, &database] {
    try {
      read_ = LaunchTable(database.launches, is_cancelled_);
      if (read_.is_cut()) why_ = QString("arrows for the first %L1 tasks only").arg(LaunchTable::kMaxTasks);
    } catch (const std::exception& error) {
      why_ = error.what();
    }
    QMetaObject::invokeMethod(
        this,
        [this] {
          reader_.join();
          table_ = std::move(read_);
          emit ready(why_);
        },
        Qt::QueuedConnection);
  });
}

LaunchReader::~LaunchReader() {
  is_cancelled_ = true;
  if (reader_.joinable()) reader_.join();
}

}  // namespace prof::viewer
