#pragma once
// The calling context trees of a dump's threads in a measurement file. Used by one thread.

#include <cstdint>
#include <memory>
#include <vector>

#include "hpcrun/cct/cct.h"
#include "hpcrun/guest/arena.h"
#include "hpcrun/measurement/writer.h"
#include "prof/exact/dump.h"

namespace prof {

// A node in the tree of a thread.
struct RecordedNode {
  hpcrun::NodeId node = hpcrun::kRootNode;
  uint32_t thread = 0;
};

class RecordedContexts {
 public:
  // Writes the modules. Neither is owned. Throws DumpError if there is no memory.
  RecordedContexts(const ExactDump& dump, hpcrun::MeasurementFile& file);
  // Seals the trees.
  ~RecordedContexts();
  RecordedContexts(const RecordedContexts&) = delete;
  RecordedContexts& operator=(const RecordedContexts&) = delete;

  // Returns the node whose leaf is the access. The root if the file is full.
  RecordedNode access(uint32_t index);
  // Returns the node whose leaf is the call that leads to the context, or the root for the start of a thread.
  RecordedNode context(uint32_t id);

  void add(uint32_t access, uint16_t metric, uint64_t value);

  hpcrun::Arena& arena(uint32_t thread) { return threads_[thread]->arena; }
  uint32_t threads() const { return static_cast<uint32_t>(threads_.size()); }

 private:
  struct Thread {
    hpcrun::Arena arena;
    hpcrun::CallingContextTree tree;
  };

  void write_modules();
  hpcrun::FrameKey frame(uint32_t module, uint64_t address) const;
  void append_callers(uint32_t context);
  RecordedNode insert(uint32_t context);

  const ExactDump& dump_;
  hpcrun::MeasurementFile& file_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<uint16_t> module_ids_;
  std::vector<uint64_t> load_biases_;
  std::vector<hpcrun::NodeId> nodes_;  // of accesses; kNoNode: not inserted yet
  std::vector<hpcrun::FrameKey> frames_;
  uint32_t last_context_ = 0;  // of the last access that was inserted
  hpcrun::NodeId last_node_ = hpcrun::kNoNode;
};

}  // namespace prof
