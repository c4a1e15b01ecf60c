#include "viewer/window/opening.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QStringList>
#include <exception>
#include <optional>
#include <thread>

namespace prof::viewer {

namespace fs = std::filesystem;

OpenedDatabase open_while_painting(const fs::path& directory) {
  std::optional<OpenedDatabase> opened;
  std::exception_ptr failure;
  QEventLoop loop;
  std::jthread reader([&] {
    try {
      opened = open_database(directory);
    } catch (...) {
      failure = std::current_exception();
    }
    QMetaObject::invokeMethod(&loop, &QEventLoop::quit, Qt::QueuedConnection);
  });
  loop.exec(QEventLoop::ExcludeUserInputEvents);
  reader.join();
  if (failure) std::rethrow_exception(failure);
  return std::move(*opened);
}

fs::path prof_command() {
  const fs::path folder = QCoreApplication::applicationDirPath().toStdString();
  std::error_code error;
  for (const char* const way : {"..", "../.."})
    if (const fs::path command = folder / way / "bin" / "prof"; fs::exists(command, error))
      return fs::weakly_canonical(command);
  return {};
}

Analysis::~Analysis() {
  process_.disconnect(this);
  cancel();
}

void Analysis::start(const fs::path& directory) {
  const QString database = QString::fromStdString((directory / "database").string());
  const fs::path command = prof_command();
  if (command.empty()) {
    emit finished(database, "prof is missing from the folder of prof-viewer; build or install all of prof");
    return;
  }
  process_.setProcessChannelMode(QProcess::MergedChannels);
  connect(&process_, &QProcess::finished, this, [this, database](int status) { conclude(status, database); });
  process_.start(QString::fromStdString(command.string()),
                 {"analyze", "-q", "--", QString::fromStdString(directory.string())});
}

void Analysis::cancel() {
  if (process_.state() == QProcess::NotRunning) return;
  is_cancelled_ = true;
  process_.terminate();
  process_.waitForFinished();
}

void Analysis::conclude(int status, const QString& database) {
  const QStringList lines = QString::fromUtf8(process_.readAll()).split('\n', Qt::SkipEmptyParts);
  QString why;
  if (is_cancelled_)
    why = "cancelled";
  else if (status != 0 || process_.exitStatus() != QProcess::NormalExit)
    why = lines.isEmpty() ? QString("prof analyze ended with status %1").arg(status) : lines.last();
  emit finished(database, why);
}

}  // namespace prof::viewer
