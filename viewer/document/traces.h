#pragma once
// The traces of the opened database and their index. If the database has no index, it is built in the
// background: code that needs it calls want_index(), and a signal reports when it is ready. Lives in the
// window's thread.

#include <QObject>
#include <QTimer>
#include <memory>
#include <thread>

#include "viewer/trace/index_builder.h"
#include "viewer/trace/mapped_traces.h"
#include "viewer/trace/trace_index.h"

namespace prof::viewer {

class Traces : public QObject {
  Q_OBJECT

 public:
  // The database must outlive this object. Throws DatabaseError.
  explicit Traces(const Database& database);
  ~Traces() override;

  const MappedTraces& mapped() const { return *mapped_; }
  // Returns nullptr until the index is ready; then it stays.
  const TraceIndex* index() const { return index_.get(); }
  // Begins to open or build the index in the background. Does nothing if it is ready or in progress.
  void want_index();
  bool is_building() const { return builder_.joinable(); }
  void cancel();
  // Called after much was read. Unmaps resident pages if there are more than `most` bytes; they are read
  // again when they are needed.
  static constexpr uint64_t kMaxResident = 104 << 20;  // bytes, of all files of this process
  void give_back(uint64_t most = kMaxResident) const;

 signals:
  // The share done, 0..1, while the index is being built.
  void progressed(double share);
  // ready(): index() is available. not_ready(): it was cancelled or failed. `why` is then one line, or empty
  // if it was cancelled.
  void ready();
  void not_ready(const QString& why);

 private:
  struct Result {
    std::unique_ptr<const TraceIndex> index;
    QString why;
  };
  void conclude();

  std::shared_ptr<const MappedTraces> mapped_;
  std::shared_ptr<const TraceIndex> index_;
  Result result_;  // owned by the builder until it ends
  BuildProgress progress_;
  QTimer reports_;
  std::thread builder_;
};

}  // namespace prof::viewer
