#pragma once
// A file that the processes of a team write together, in pieces that follow each other and whose sizes are
// known only when they are made. The processes take turns, so that each soon hears how much lies before a
// piece of its own: until then the piece waits in memory.

#include <deque>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/database/output.h"
#include "analysis/team/team.h"

namespace prof {

// Who makes which piece: so many that follow each other are one process's, the next ones the next one's.
struct Turns {
  size_t pieces = 0;
  size_t length = 1;
  int processes = 1;

  int owner(size_t piece) const { return static_cast<int>(piece / length % static_cast<size_t>(processes)); }
  std::vector<size_t> of(int rank) const;  // rising
  // Where each piece begins, and the last one ends: of the sizes of each process's pieces, as many as it has.
  std::vector<uint64_t> places(const std::vector<std::vector<uint64_t>>& sizes, uint64_t first) const;
};

class PiecedFile {
 public:
  static constexpr uint64_t kMostWaitingBytes = 128 << 20;

  // Without header, which comes with finish() of an OutputFile that goes on behind the pieces.
  PiecedFile(const std::filesystem::path& directory, const format::FileKind& kind, Team& team, Turns turns,
             uint64_t most_waiting_bytes = kMostWaitingBytes);

  static uint64_t first_place(const format::FileKind& kind) { return format::header_bytes(kind); }

  // The next of the own pieces. Waits for other processes where too much waits. Throws DatabaseError, and
  // TeamError.
  void put(OutputBuffer&& piece);
  // When all of the own ones were put: waits until they are where they belong.
  void close();
  // Of the own ones.
  const std::vector<uint64_t>& sizes() const { return sizes_; }

 private:
  bool advance();
  bool is_heard(int rank);

  std::string name_;  // of what is said to others
  Team& team_;
  Turns turns_;
  std::filesystem::path directory_;
  format::FileKind kind_;
  std::optional<OutputFile> file_;  // from the first piece on: then the folder is there
  std::vector<uint64_t> sizes_;
  std::deque<OutputBuffer> waiting_;
  uint64_t waiting_bytes_ = 0, most_waiting_bytes_;
  std::vector<std::vector<uint64_t>> others_;  // sizes that processes have said
  std::vector<size_t> passed_;                 // how many pieces of each process lie before next_
  size_t next_ = 0;                            // the first piece behind what has its place
  uint64_t place_;                             // where that begins
};

}  // namespace prof
