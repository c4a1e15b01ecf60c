#pragma once
// The traces of the opened database and their index, which is made in the background where the database has
// none: whoever needs it asks by want_index(), and hears when it is there. Lives in the window's thread.

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
  // The database outlives it. Throws DatabaseError.
  explicit Traces(const Database& database);
  ~Traces() override;

  const MappedTraces& mapped() const { return *mapped_; }
  // nullptr until it is ready; then it stays.
  const TraceIndex* index() const { return index_.get(); }
  // Begins to open the index, or to make it, in the background. Nothing happens where it is there or on its
  // way.
  void want_index();
  bool is_building() const { return builder_.joinable(); }
  void cancel();
  // After much was read: lets go of what is mapped, where that is more than `most`; it is read again
  // where it is needed.
  static constexpr uint64_t kMostResident = 104 << 20;  // bytes, of all files of this process
  void give_back(uint64_t most = kMostResident) const;

 signals:
  // Of what there is to read, 0..1; while it is being made.
  void progressed(double share);
  // index() is there now, unless it was cancelled, or failed: then `why` is a line, for cancelled ones empty.
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
  Result result_;  // the builder's until it ends
  BuildProgress progress_;
  QTimer reports_;
  std::thread builder_;
};

}  // namespace prof::viewer
