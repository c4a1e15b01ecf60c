#pragma once
// A file that several workers write together, in consecutive pieces whose sizes are known only when they
// exist. They take turns, so that each soon learns the sizes of the pieces before its own.
// Until then a piece stays in memory.

#include <deque>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/database/output.h"
#include "analysis/workers/workers.h"

namespace prof {

// Assigns pieces to processes: each in turn makes `length` consecutive pieces.
struct Turns {
  size_t pieces = 0;
  size_t length = 1;
  int processes = 1;

  int owner(size_t piece) const { return static_cast<int>(piece / length % static_cast<size_t>(processes)); }
  std::vector<size_t> of(int rank) const;  // ascending
  // Returns where each piece starts, and where the last one ends. sizes[rank]: the sizes of that process's
  // pieces.
  std::vector<uint64_t> places(const std::vector<std::vector<uint64_t>>& sizes, uint64_t first) const;
};

class PiecedFile {
 public:
  static constexpr uint64_t kMaxWaitingBytes = 128 << 20;

  // Writes no header; an OutputFile that continues after the pieces writes it in finish().
  PiecedFile(const std::filesystem::path& directory, const format::FileKind& kind, AnalysisWorkers& workers,
             Turns turns, uint64_t most_waiting_bytes = kMaxWaitingBytes);

  static uint64_t first_place(const format::FileKind& kind) { return format::header_bytes(kind); }

  // Adds the next of this process's pieces. Waits for other processes if too many bytes are in memory. Throws
  // DatabaseError and WorkersError.
  void put(OutputBuffer&& piece);
  // Must be called after all of this process's pieces were put. Waits until they are in their place.
  void close();
  // Returns the sizes of this process's pieces.
  const std::vector<uint64_t>& sizes() const { return sizes_; }

 private:
  bool advance();
  bool is_heard(int rank);

  std::string name_;  // of the sizes that are sent to the others
  AnalysisWorkers& workers_;
  Turns turns_;
  std::filesystem::path directory_;
  format::FileKind kind_;
  std::optional<OutputFile> file_;  // opened with the first piece, when the folder exists
  std::vector<uint64_t> sizes_;
  std::deque<OutputBuffer> waiting_;
  uint64_t waiting_bytes_ = 0, most_waiting_bytes_;
  std::vector<std::vector<uint64_t>> others_;  // sizes that other processes have sent
  std::vector<size_t> passed_;                 // the number of pieces of each process before next_
  size_t next_ = 0;                            // the first piece without a place
  uint64_t place_;                             // its offset in the file
};

}  // namespace prof
