// cct.db: the values of profile.db, by context, then metric, then profile.

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>

#include "analysis/database/database.h"
#include "analysis/database/output.h"
#include "analysis/database/parallel_for.h"
#include "analysis/database/pieced_file.h"
#include "analysis/database/statistics.h"
#include "analysis/database/summaries.h"
#include "analysis/database/values_by_range.h"
#include "analysis/database/write.h"

namespace prof {
namespace {

using namespace format;

constexpr uint64_t kValuesAtOnce = 512 * 1024;  // about 20 MB of memory
// If there are many profiles, each has few of these values. So this much is read of each, for several pieces
// at once.
constexpr uint64_t kMinBytesRead = 4096;
constexpr size_t kMaxPiecesRead = 32;  // by all threads together
constexpr uint64_t kMinTurns = 8;      // of each process

struct Entry {
  uint32_t profile = 0;
  double value = 0;
};

struct ContextInfo {
  uint64_t value_count = 0;
  uint64_t values = 0;
  uint16_t metric_count = 0;
  uint64_t indices = 0;
};

// Consecutive contexts, as they will lie in the file.
struct Piece {
  OutputBuffer bytes;
  std::vector<ContextInfo> infos;  // relative to the start of bytes
  std::vector<Summary> summaries;  // by metric, then context
};

// The part of a piece that is kept after it was written.
struct WrittenPiece {
  uint64_t bytes = 0;
  std::vector<ContextInfo> infos;
  std::vector<Summary> summaries;
};

template <typename Archive>
void fields(Archive& archive, WrittenPiece& piece) {
  archive(piece.bytes, piece.infos, piece.summaries);
}

// Writes the contexts of ranges (WrittenProfiles::cuts) in pieces; each worker writes some of
// them.
class CctWriter {
 public:
  CctWriter(const Database& database, const WrittenProfiles& written, const Writers& writers)
      : database_(database),
        written_(written),
        metrics_(static_cast<uint32_t>(database.metrics.size())),
        ids_(static_cast<uint32_t>(metrics_ * kScopes)),
        writers_(writers) {
    find_pieces();
    turn_ = std::clamp<size_t>(piece_count() / (kMinTurns * static_cast<size_t>(writers.workers.size())), 1,
                               pieces_to_read());
  }

  Turns turns() const { return {piece_count(), turn_, writers_.workers.size()}; }

  std::vector<WrittenPiece> write(const std::filesystem::path& directory) {
    values_.emplace(directory / kProfile.name, database_, written_, ids_);
    PiecedFile file(directory, kCct, writers_.workers, turns());
    const std::vector<std::pair<size_t, size_t>> batches = own_batches();
    std::vector<WrittenPiece> written;
    Stage stage(writers_.progress, "writing contexts", turns().of(writers_.workers.rank()).size());
    make_in_order(
        batches.size(), writers_.jobs,
        [&](size_t i) {
          const auto [begin, end] = batches[i];
          return make(std::span(pieces_).subspan(begin, end - begin + 1));
        },
        [&](size_t, std::vector<Piece>&& made) {
          for (Piece& piece : made) {
            written.push_back({piece.bytes.size(), std::move(piece.infos), std::move(piece.summaries)});
            file.put(std::move(piece.bytes));
          }
          stage.add(made.size());
        });
    file.close();
    return written;
  }

  // Validates what another process reports about its pieces.
  void require(const std::vector<WrittenPiece>& written, int rank) const {
    const std::vector<size_t> pieces = turns().of(rank);
    bool holds = written.size() == pieces.size();
    for (size_t i = 0; holds && i < pieces.size(); ++i) {
      const size_t contexts = end_of(pieces[i]) - first_of(pieces[i]);
      holds = written[i].infos.size() == contexts &&
              written[i].summaries.size() == database_.metrics.size() * contexts;
    }
    Unpacker::require(holds, "it is of other contexts");
  }

  uint32_t first_of(size_t piece) const { return first_context(database_, written_, pieces_[piece]); }
  uint32_t end_of(size_t piece) const { return first_of(piece + 1); }

 private:
  size_t piece_count() const { return pieces_.size() - 1; }

  // Combines ranges of contexts into pieces with enough values. Stores the first range of each.
  void find_pieces() {
    uint64_t all = 0;
    for (const uint64_t values : written_.value_counts) all += values;
    const uint64_t turns = kMinTurns * static_cast<uint64_t>(writers_.workers.size());
    const uint64_t enough = std::min(kValuesAtOnce, all / turns + 1);
    pieces_.push_back(0);
    uint64_t values = 0;
    for (size_t range = 0; range < written_.value_counts.size(); ++range) {
      values += written_.value_counts[range];
      if (values < enough && range + 1 < written_.value_counts.size()) continue;
      pieces_.push_back(range + 1);
      values = 0;
    }
  }

  // Returns how many pieces to read at once, so that enough is read of each profile.
  size_t pieces_to_read() const {
    const uint64_t bytes = written_.blocks.size() * kMinBytesRead;
    return std::clamp<size_t>(bytes / (kValuesAtOnce * kProfileValueBytes), 1, kMaxPiecesRead);
  }

  // Returns the batches [first, last) of this process's pieces that are read together; each lies within a
  // turn.
  std::vector<std::pair<size_t, size_t>> own_batches() const {
    const size_t most =
        std::min(turn_, std::max<size_t>(kMaxPiecesRead / static_cast<size_t>(writers_.jobs), 1));
    std::vector<std::pair<size_t, size_t>> batches;
    for (const size_t piece : turns().of(writers_.workers.rank())) {
      const bool goes_on = !batches.empty() && batches.back().second == piece && piece % turn_ != 0 &&
                           piece - batches.back().first < most;
      if (goes_on)
        ++batches.back().second;
      else
        batches.emplace_back(piece, piece + 1);
    }
    return batches;
  }

  // Makes the pieces between neighbouring elements of `ranges`.
  std::vector<Piece> make(std::span<const size_t> ranges) {
    const ValuesByRange::Read all = values_->read(ranges.front(), ranges.back());
    std::vector<Piece> pieces;
    for (size_t i = 0; i + 1 < ranges.size(); ++i) pieces.push_back(make(all, ranges[i], ranges[i + 1]));
    return pieces;
  }

  // Entries are sorted by key, then by profile: they are counted first, then put into their place.
  Piece make(const ValuesByRange::Read& all, size_t first_range, size_t end_range) {
    const uint32_t first = first_context(database_, written_, first_range),
                   end = first_context(database_, written_, end_range);
    std::vector<uint32_t> begin(size_t{end - first} * ids_ + 1, 0);  // of each key, at first shifted by one
    values_->for_each(all, first_range, end_range, [&](uint32_t, uint32_t key, double) { ++begin[key + 1]; });
    for (size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    std::vector<Entry> entries(begin.back());
    values_->for_each(all, first_range, end_range, [&](uint32_t profile, uint32_t key, double value) {
      entries[next[key]++] = {profile, value};
    });
    return made_of(entries, begin, first, end);
  }

  Piece made_of(const std::vector<Entry>& entries, const std::vector<uint32_t>& begin, uint32_t first,
                uint32_t end) {
    Piece piece;
    piece.summaries.resize(size_t{metrics_} * (end - first));
    OutputBuffer metrics;
    for (uint32_t context = first; context < end; ++context) {
      piece.bytes.align(4);
      ContextInfo info{.values = piece.bytes.size()};
      metrics.clear();
      const size_t first_key = size_t{context - first} * ids_;
      for (uint32_t metric = 0; metric < metrics_; ++metric)
        piece.summaries[size_t{metric} * (end - first) + (context - first)] =
            summarize(entries, &begin[first_key + metric * kScopes]);
      for (uint32_t id = 0; id < ids_; ++id) {
        const uint32_t from = begin[first_key + id], to = begin[first_key + id + 1];
        if (from == to) continue;
        metrics.put(static_cast<uint16_t>(id));
        metrics.put(info.value_count);
        ++info.metric_count;
        put_entries(std::span(entries).subspan(from, to - from), piece.bytes);
        info.value_count += to - from;
      }
      info.indices = piece.bytes.size();
      piece.bytes.append(metrics.view());
      piece.infos.push_back(info);
    }
    piece.bytes.align(4);
    return piece;
  }

  static void put_entries(std::span<const Entry> entries, OutputBuffer& out) {
    char* to = out.grow(entries.size() * kContextValueBytes);
    for (const Entry& entry : entries) {
      const uint32_t profile = entry.profile + 1;  // profile 0 is the summary
      std::memcpy(to, &profile, sizeof profile);
      std::memcpy(to + sizeof profile, &entry.value, sizeof entry.value);
      to += kContextValueBytes;
    }
  }

  // Summarizes over the profiles, in their order. `begin`: the start of the entries of each scope of a
  // metric.
  static Summary summarize(const std::vector<Entry>& entries, const uint32_t* begin) {
    constexpr Scope kKept[] = {Scope::Point, Scope::Function, Scope::Execution};
    std::array<uint32_t, kScopes> next;
    std::copy_n(begin, kScopes, next.begin());
    Summary summary;
    while (true) {
      uint32_t profile = UINT32_MAX;
      for (const Scope scope : kKept) {
        const auto at = static_cast<size_t>(scope);
        if (next[at] < begin[at + 1]) profile = std::min(profile, entries[next[at]].profile);
      }
      if (profile == UINT32_MAX) return summary;
      Values values;
      for (const Scope scope : kKept) {
        const auto at = static_cast<size_t>(scope);
        if (next[at] < begin[at + 1] && entries[next[at]].profile == profile)
          values.*value_of(scope) = entries[next[at]++].value;
      }
      add(summary, values);
    }
  }

  const Database& database_;
  const WrittenProfiles& written_;
  uint32_t metrics_;
  uint32_t ids_;  // of metrics and scopes
  const Writers& writers_;
  std::vector<size_t> pieces_;  // the first range of each, and the end of the last
  size_t turn_ = 1;             // number of pieces per turn
  std::optional<ValuesByRange> values_;
};

// The pieces of all processes.
class AllPieces {
 public:
  AllPieces(const Database& database, const CctWriter& writer,
            std::vector<std::vector<WrittenPiece>>&& written)
      : database_(database), writer_(writer) {
    const Turns turns = writer.turns();
    std::vector<std::vector<uint64_t>> sizes(written.size());
    for (size_t rank = 0; rank < written.size(); ++rank)
      for (const WrittenPiece& piece : written[rank]) sizes[rank].push_back(piece.bytes);
    places_ = turns.places(sizes, PiecedFile::first_place(kCct));
    std::vector<size_t> passed(written.size());
    for (size_t piece = 0; piece < turns.pieces; ++piece) {
      const auto by = static_cast<size_t>(turns.owner(piece));
      pieces_.push_back(std::move(written[by][passed[by]++]));
    }
  }

  void finish(const std::filesystem::path& directory) const {
    OutputFile file(directory, kCct, places_.back());
    file.align(8);
    const uint64_t begin = file.offset();
    OutputBuffer out;
    out.put<uint64_t>(begin + 16);
    out.put(static_cast<uint32_t>(database_.contexts.size() + 1));
    out.put<uint8_t>(kContextInfoBytes);
    out.align(8);
    for (size_t piece = 0; piece < pieces_.size(); ++piece) {
      for (const ContextInfo& info : pieces_[piece].infos) {
        out.put(info.value_count);
        out.put(places_[piece] + info.values);
        out.put(info.metric_count);
        out.align(8);
        out.put(places_[piece] + info.indices);
      }
    }
    file.write(out.view());
    file.end_section(0, begin);
    file.finish();
  }

  WrittenContexts statistics() const {
    const size_t metrics = database_.metrics.size(), contexts = database_.contexts.size();
    WrittenContexts written;
    written.global.resize(metrics);
    if (database_.summaries.empty()) written.summaries.resize(metrics * contexts);
    for (size_t piece = 0; piece < pieces_.size(); ++piece) {
      const uint32_t first = writer_.first_of(piece), end = writer_.end_of(piece);
      for (size_t metric = 0; metric < metrics; ++metric) {
        for (uint32_t id = first; id < end; ++id) {
          const Summary& summary = pieces_[piece].summaries[metric * (end - first) + (id - first)];
          if (id == kGlobalContext)
            written.global[metric] = summary;
          else if (!written.summaries.empty())
            written.summaries[metric * contexts + id - context_id(0)] = summary;
        }
      }
    }
    return written;
  }

 private:
  const Database& database_;
  const CctWriter& writer_;
  std::vector<WrittenPiece> pieces_;
  std::vector<uint64_t> places_;  // of each, and the end of the last
};

}  // namespace

// Distributes the work over the workers in the same way as write_profiles().
WrittenContexts write_contexts(const Database& database, const WrittenProfiles& written,
                               const std::filesystem::path& directory, const Writers& writers) {
  AnalysisWorkers& workers = writers.workers;
  CctWriter writer(database, written, writers);
  std::vector<std::vector<WrittenPiece>> all(static_cast<size_t>(workers.size()));
  std::vector<WrittenPiece>& own = all[static_cast<size_t>(workers.rank())];
  workers.collect(
      "cct", [&] { own = writer.write(directory); }, [&](Packer& out) { out(own); },
      [&](Unpacker& in, int rank) {
        in(all[static_cast<size_t>(rank)]);
        writer.require(all[static_cast<size_t>(rank)], rank);
      });
  if (!workers.is_first()) return {};
  const AllPieces pieces(database, writer, std::move(all));
  pieces.finish(directory);
  return pieces.statistics();
}

}  // namespace prof
