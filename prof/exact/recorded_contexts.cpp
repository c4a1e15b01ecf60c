#include "prof/exact/recorded_contexts.h"

#include <map>
#include <string>
#include <utility>

#include "prof/exact/module_file.h"

namespace prof {

using hpcrun::FrameKey;
using hpcrun::kNoNode;

RecordedContexts::RecordedContexts(const ExactDump& dump, hpcrun::MeasurementFile& file)
    : dump_(dump), file_(file), nodes_(dump.accesses.size(), kNoNode) {
  write_modules();
  for (uint32_t i = 0; i < dump.threads.size(); ++i) {
    threads_.push_back(std::make_unique<Thread>());
    if (!threads_[i]->tree.attach(file, threads_[i]->arena, i))
      throw DumpError("there is no memory or disk space for its calling contexts");
  }
}

RecordedContexts::~RecordedContexts() {
  for (const auto& thread : threads_) {
    thread->tree.seal();
    thread->arena.release_all();
  }
}

// The same file at the same place is one module, also if its code was mapped in pieces.
void RecordedContexts::write_modules() {
  std::map<std::pair<std::string, uint64_t>, uint16_t> known;
  for (const PeDumpModule& mapped : dump_.modules) {
    const LoadedModule module = read_loaded_module(mapped, dump_.text(mapped.path));
    const size_t next = known.size() + 1;
    const bool is_full = next >= hpcrun::kMaxModules;
    const auto [found, is_new] = known.try_emplace(
        {module.path, module.load_bias}, is_full ? hpcrun::kModuleNone : static_cast<uint16_t>(next));
    if (is_new && !is_full)
      file_.write_module(found->second, module.path.c_str(), module.start, module.end, module.load_bias,
                         module.build_id.data(), static_cast<uint32_t>(module.build_id.size()), module.file);
    module_ids_.push_back(found->second);
    load_biases_.push_back(found->second == hpcrun::kModuleNone ? 0 : module.load_bias);
  }
}

FrameKey RecordedContexts::frame(uint32_t module, uint64_t address) const {
  if (module == 0) return hpcrun::make_frame(hpcrun::kModuleNone, address);
  return hpcrun::make_frame(module_ids_[module - 1], address - load_biases_[module - 1]);
}

// Leaf first. A thread continues with the context of its creator.
void RecordedContexts::append_callers(uint32_t context) {
  for (uint32_t id = context; id != 0 && frames_.size() < hpcrun::kMaxDepth;) {
    const PeDumpContext& call = dump_.contexts[id - 1];
    if (call.return_address != 0) frames_.push_back(frame(call.module, call.return_address - 1));
    id = call.parent;
  }
}

RecordedNode RecordedContexts::insert(uint32_t context) {
  const uint32_t thread = dump_.contexts[context - 1].thread;
  if (frames_.empty()) return {hpcrun::kRootNode, thread};
  const hpcrun::NodeId node =
      threads_[thread]->tree.insert(frames_.data(), static_cast<uint32_t>(frames_.size()));
  return {node == kNoNode ? hpcrun::kRootNode : node, thread};
}

RecordedNode RecordedContexts::access(uint32_t index) {
  const PeDumpAccess& access = dump_.accesses[index];
  const uint32_t thread = dump_.contexts[access.context - 1].thread;
  hpcrun::NodeId& node = nodes_[index];
  if (node != kNoNode) return {node, thread};
  const FrameKey leaf = frame(access.module, access.address);
  if (access.context == last_context_ && last_node_ != hpcrun::kRootNode) {
    node = threads_[thread]->tree.sibling(last_node_, leaf);
    if (node == kNoNode) node = hpcrun::kRootNode;
    return {node, thread};
  }
  frames_.assign(1, leaf);
  append_callers(access.context);
  node = insert(access.context).node;
  last_context_ = access.context;
  last_node_ = node;
  return {node, thread};
}

RecordedNode RecordedContexts::context(uint32_t id) {
  if (id == 0) return {};
  frames_.clear();
  append_callers(id);
  return insert(id);
}

void RecordedContexts::add(uint32_t access, uint16_t metric, uint64_t value) {
  const RecordedNode at = this->access(access);
  threads_[at.thread]->tree.add(at.node, metric, value, value);
}

}  // namespace prof
