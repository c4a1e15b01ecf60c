#include "viewer/document/traces.h"

#include <algorithm>

#include "viewer/trace/index_file.h"

namespace prof::viewer {

namespace {

constexpr int kReportEveryMs = 50;
constexpr int kMaxReaders = 4;  // more would only wait for the disk

int jobs() {
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxReaders);
}

}  // namespace

Traces::Traces(const Database& database) : mapped_(std::make_shared<const MappedTraces>(database)) {
  reports_.setInterval(kReportEveryMs);
  connect(&reports_, &QTimer::timeout, this, [this] {
    const auto all = static_cast<double>(std::max<uint64_t>(mapped_->all_segments(), 1));
    emit progressed(static_cast<double>(progress_.segments_done) / all);
  });
}

Traces::~Traces() {
  progress_.is_cancelled = true;
  if (builder_.joinable()) builder_.join();
}

void Traces::want_index() {
  if (index_ || is_building()) return;
  progress_.is_cancelled = false;
  result_ = {};
  reports_.start();
  builder_ = std::thread([this] {
    try {
      result_.index = open_index(mapped_, jobs(), progress_.is_cancelled);
      if (!result_.index) result_.index = build_index(mapped_, jobs(), progress_);
    } catch (const std::exception& error) {
      result_.why = QString::fromUtf8(error.what());
    }
    QMetaObject::invokeMethod(this, &Traces::conclude, Qt::QueuedConnection);
  });
}

void Traces::cancel() {
  progress_.is_cancelled = true;
}

void Traces::give_back(uint64_t most) const {
  if (resident_file_bytes() <= most) return;
  mapped_->release_pages();
  if (index_) index_->release_pages();
}

void Traces::conclude() {
  builder_.join();
  reports_.stop();
  index_ = std::move(result_.index);
  if (!index_ && result_.why.isEmpty() && !progress_.is_cancelled)
    result_.why = "not indexed: the database has changed; open it again";
  if (index_)
    emit ready();
  else
    emit not_ready(result_.why);
}

}  // namespace prof::viewer
