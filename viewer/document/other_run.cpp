#include "viewer/document/other_run.h"

#include <cassert>
#include <exception>

#include "analysis/database/database.h"
#include "analysis/database/stored_values.h"
#include "analysis/views/tree/selection.h"

namespace prof::viewer {

namespace {

// Shares of the time, for a million contexts on both sides.
constexpr double kRead = 0.5, kMatched = 0.85;

}  // namespace

std::shared_ptr<const OtherRun> read_other_run(const Database& opened, const std::filesystem::path& directory,
                                               const MatchProgress& progress) {
  auto other = std::make_shared<OtherRun>();
  other->directory = directory;
  other->database = std::make_unique<const Database>(read_database(directory, ReadValues::WhenAskedFor));
  if (other->database->stored) other->database->stored->check_profiles();
  if (progress && !progress(kRead)) return nullptr;
  other->both = match_databases(opened, *other->database, [&](double share) {
    return !progress || progress(kRead + (kMatched - kRead) * share);
  });
  return other->both ? other : nullptr;
}

std::shared_ptr<const CallTree> compare_runs(std::shared_ptr<const OtherRun> other, const CallTree& measured,
                                             const ComparisonOptions& options) {
  struct Kept {
    std::shared_ptr<const OtherRun> other;
    CallTree tree;
  };
  const Database& database = *other->database;
  RunCosts costs{select(database, {}, {}), {}};
  if (!measured.selection.every_profile) {
    costs.selection.profiles = same_threads(*measured.database, measured.selection.profiles, database);
    costs.selection.every_profile = false;
  }
  costs.by_context = context_costs(database, costs.selection);
  CallTree tree = compare(*other->both, measured, costs, options);
  const auto kept = std::make_shared<const Kept>(Kept{std::move(other), std::move(tree)});
  return {kept, &kept->tree};
}

OtherRunReader::~OtherRunReader() {
  cancel();
}

void OtherRunReader::start(const Database& opened, std::shared_ptr<const CallTree> measured,
                           ComparisonOptions options, const std::filesystem::path& directory) {
  assert(!thread_.joinable());
  prepared_ = {nullptr, std::move(measured), options};
  thread_ = std::jthread([this, &opened, directory] {
    const QString why = read(opened, directory);
    // Runs in the window's thread, unless this object is gone by then.
    QMetaObject::invokeMethod(
        this, [this, why] { emit finished(why); }, Qt::QueuedConnection);
  });
}

QString OtherRunReader::read(const Database& opened, const std::filesystem::path& directory) {
  const auto tell = [this](double share) {
    emit progressed(share);  // queued if the receiver is in another thread
    return !is_cancelled_;
  };
  try {
    std::shared_ptr<const OtherRun> other = read_other_run(opened, directory, tell);
    if (!other) return {};
    prepared_.tree = compare_runs(other, *prepared_.measured, prepared_.options);
    if (!is_cancelled_) result_ = std::move(other);
    return {};
  } catch (const std::exception& error) {
    return QString::fromUtf8(error.what());
  }
}

}  // namespace prof::viewer
