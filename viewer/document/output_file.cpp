#include "viewer/document/output_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <QFile>
#include <optional>
#include <stdexcept>

#include "analysis/files/named_output.h"

namespace prof::viewer {

namespace {

[[noreturn]] void fail_to_write(const std::filesystem::path& file, const std::string& why) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", file.string(), why));
}

}  // namespace

void write_to(const std::filesystem::path& file, const std::function<void(QIODevice&)>& write) try {
  const bool is_standard = file == "-";
  std::optional<NamedOutput> named;
  if (!is_standard) named.emplace(file);
  QFile out;
  if (out.open(is_standard ? STDOUT_FILENO : named->descriptor(), QIODevice::WriteOnly)) write(out);
  if (!out.flush() || out.error() != QFileDevice::NoError)
    fail_to_write(file, out.errorString().toStdString());
  if (named) named->keep();
} catch (const WriteError& error) {
  // For another user's directory or link, the message is more precise than the error code.
  if (error.code() == std::errc::operation_not_permitted) throw;
  fail_to_write(file, error.code().message());
}

}  // namespace prof::viewer
