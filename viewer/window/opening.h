#pragma once
// Opens a database, or the measurements of a run, which `prof analyze` processes first.

#include <QObject>
#include <QProcess>
#include <QString>
#include <filesystem>

#include "viewer/document/document.h"

namespace prof::viewer {

// Reads a database in a thread of its own and returns when that is done. The window is painted meanwhile, and
// user input waits. Throws like open_database().
OpenedDatabase open_while_painting(const std::filesystem::path& directory);

// Returns `prof` next to this prof-viewer, in a build folder or an installation; empty if it is missing.
std::filesystem::path prof_command();

// Analyzes a measurement directory, in a process of its own that can be cancelled.
class Analysis : public QObject {
  Q_OBJECT

 public:
  explicit Analysis(QObject* parent = nullptr) : QObject(parent) {}
  ~Analysis() override;

  void start(const std::filesystem::path& directory);
  void cancel();

 signals:
  // `why` is empty if the database is available, else one line.
  void finished(const QString& database, const QString& why);

 private:
  void conclude(int status, const QString& database);

  QProcess process_;
  bool is_cancelled_ = false;
};

}  // namespace prof::viewer
