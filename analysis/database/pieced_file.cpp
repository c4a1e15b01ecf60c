#include "analysis/database/pieced_file.h"

#include <fmt/format.h>

#include <cassert>

namespace prof {

std::vector<size_t> Turns::of(int rank) const {
  std::vector<size_t> own;
  for (size_t piece = 0; piece < pieces; ++piece)
    if (owner(piece) == rank) own.push_back(piece);
  return own;
}

std::vector<uint64_t> Turns::places(const std::vector<std::vector<uint64_t>>& sizes, uint64_t first) const {
  std::vector<size_t> passed(sizes.size());
  std::vector<uint64_t> places{first};
  for (size_t piece = 0; piece < pieces; ++piece) {
    const auto by = static_cast<size_t>(owner(piece));
    places.push_back(places.back() + sizes[by][passed[by]++]);
  }
  return places;
}

PiecedFile::PiecedFile(const std::filesystem::path& directory, const format::FileKind& kind,
                       AnalysisWorkers& workers, Turns turns, uint64_t most_waiting_bytes)
    : name_(fmt::format("{}.sizes", kind.name)),
      workers_(workers),
      turns_(turns),
      directory_(directory),
      kind_(kind),
      most_waiting_bytes_(most_waiting_bytes),
      others_(static_cast<size_t>(workers.size())),
      passed_(static_cast<size_t>(workers.size())),
      place_(first_place(kind)) {}

void PiecedFile::put(OutputBuffer&& piece) {
  sizes_.push_back(piece.size());
  waiting_bytes_ += piece.size();
  waiting_.push_back(std::move(piece));
  if (workers_.is_shared()) {
    Packer out;
    out(sizes_);
    workers_.say(name_, out.bytes());
  }
  while (!advance() && waiting_bytes_ > most_waiting_bytes_)
    workers_.wait(turns_.owner(next_), [&] { return is_heard(turns_.owner(next_)); });
}

void PiecedFile::close() {
  assert(sizes_.size() == turns_.of(team_.rank()).size());
  while (!waiting_.empty() && !advance())
    workers_.wait(turns_.owner(next_), [&] { return is_heard(turns_.owner(next_)); });
  if (!file_ && workers_.is_first()) file_.emplace(directory_, kind_, place_);  // also if there are no pieces
  if (file_) file_->close();
}

// Places pieces as far as their offsets are known. Returns false if the next one depends on another process.
bool PiecedFile::advance() {
  for (; next_ < turns_.pieces; ++next_) {
    const int by = turns_.owner(next_);
    size_t& passed = passed_[static_cast<size_t>(by)];
    if (by != workers_.rank()) {
      if (!is_heard(by)) return false;
      place_ += others_[static_cast<size_t>(by)][passed];
    } else {
      if (waiting_.empty()) return true;
      const OutputBuffer piece = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= piece.size();
      if (!file_) file_.emplace(directory_, kind_, place_);
      file_->write_at(place_, piece.view());
      place_ += piece.size();
    }
    ++passed;
  }
  return true;
}

// True if a process has sent the size of its next piece.
bool PiecedFile::is_heard(int rank) {
  std::vector<uint64_t>& sizes = others_[static_cast<size_t>(rank)];
  const size_t passed = passed_[static_cast<size_t>(rank)];
  if (sizes.size() > passed) return true;
  if (const auto said = workers_.heard(name_, rank)) {
    try {
      Unpacker in(*said);
      in(sizes);
      in.end();
    } catch (const DamagedPart& damage) {
      workers_.require(false, name_, rank, damage.what());
    }
  }
  return sizes.size() > passed;
}

}  // namespace prof
