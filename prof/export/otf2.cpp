// An OTF2 archive: each sample of the trace as an event with its calling context, followed by its cost. The
// library writes the files. It keeps the definitions and a buffer for one thread in memory.

#include <otf2/otf2.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/database/utf8.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "analysis/views/tree/stacks.h"
#include "analysis/views/tree/wording.h"
#include "prof/base/message.h"
#include "prof/export/formats.h"
#include "prof/export/quantity.h"
#include "prof/export/trace.h"

namespace prof {
namespace {

constexpr uint64_t kEventBytes = 1 << 20, kDefinitionBytes = 4 << 20;  // sizes of the library's buffers
constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr OTF2_InterruptGeneratorRef kSampling = 0;
constexpr OTF2_MetricRef kMetrics = 0;
constexpr size_t kMaxMetrics = 255;  // per metric class

// Records an error. The library would otherwise print it; prof prints its own line instead.
OTF2_ErrorCode remember_error(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                              va_list) {
  return code;
}

void require(OTF2_ErrorCode code) {
  if (code != OTF2_SUCCESS)
    fail(kOwnFailure, "cannot write the archive: {}", printable(OTF2_Error_GetDescription(code)));
}

OTF2_FlushType flush_always(void*, OTF2_FileType, OTF2_LocationRef, void*, bool) {
  return OTF2_FLUSH;
}
constexpr OTF2_FlushCallbacks kFlush = {flush_always, nullptr};

struct CloseArchive {
  void operator()(OTF2_Archive* archive) const { OTF2_Archive_Close(archive); }
};

class Otf2Writer {
 public:
  Otf2Writer(const CallTree& tree, const std::filesystem::path& directory)
      : tree_(tree),
        database_(*tree.database),
        width_(std::min(tree.metrics(), kMaxMetrics)),
        stacks_(build_stacks(tree)),
        archive_(OTF2_Archive_Open(directory.c_str(), "traces", OTF2_FILEMODE_WRITE, kEventBytes,
                                   kDefinitionBytes, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE)) {
    if (!archive_) fail(kOwnFailure, "cannot create {}: {}", directory.string(), std::strerror(errno));
  }

  void write() {
    OTF2_Archive* archive = archive_.get();
    require(OTF2_Archive_SetFlushCallbacks(archive, &kFlush, nullptr));
    require(OTF2_Archive_SetSerialCollectiveCallbacks(archive));
    require(OTF2_Archive_SetCreator(archive, "prof"));
    require(OTF2_Archive_SetDescription(archive, valid_utf8(run_summary(database_).command).c_str()));
    for (const uint32_t thread : tree_.selection.profiles)
      if (has_trace(database_, thread)) threads_.push_back({thread, 0});
    write_events();
    write_definitions();
    require(OTF2_Archive_Close(archive_.release()));
  }

 private:
  struct Thread {
    uint32_t profile;
    uint64_t events;
  };

  void write_events() {
    OTF2_Archive* archive = archive_.get();
    require(OTF2_Archive_OpenEvtFiles(archive));
    OwnCostsByThread costs(tree_, stacks_.node_of, stacks_.nodes.size());
    SampleWeights weights(tree_, stacks_.node_of, stacks_.nodes.size());
    values_.resize(width_);
    types_.assign(width_, OTF2_TYPE_INT64);
    for (size_t m = 0; m < width_; ++m) units_.push_back(whole_unit(tree_.metric(m)));
    for (size_t location = 0; location < threads_.size(); ++location) {
      OTF2_EvtWriter* writer = OTF2_Archive_GetEvtWriter(archive, location);
      if (!writer) fail(kOwnFailure, "cannot write the archive: {}", std::strerror(errno));
      write_thread(writer, threads_[location], costs.of(threads_[location].profile), weights);
      require(OTF2_Archive_CloseEvtWriter(archive, writer));
    }
    require(OTF2_Archive_CloseEvtFiles(archive));
    // Readers expect a file of definitions for each thread, even an empty one.
    require(OTF2_Archive_OpenDefFiles(archive));
    for (size_t location = 0; location < threads_.size(); ++location)
      require(OTF2_Archive_CloseDefWriter(archive, OTF2_Archive_GetDefWriter(archive, location)));
    require(OTF2_Archive_CloseDefFiles(archive));
  }

  void write_thread(OTF2_EvtWriter* writer, Thread& thread, const OwnCosts& costs, SampleWeights& weights) {
    weights.prepare(thread.profile, costs);
    given_.assign(stacks_.nodes.size(), 0);
    uint64_t end_ns = 0;
    bool idle = true;
    for_each_stretch(database_, thread.profile, [&](uint64_t begin, uint64_t end, uint32_t context) {
      first_ns_ = std::min(first_ns_, begin);
      last_ns_ = std::max(last_ns_, end_ns = end);
      if (context == kNone) {
        if (!idle) write_sample(writer, begin, OTF2_UNDEFINED_CALLING_CONTEXT);
        idle = true;
        return;
      }
      idle = false;
      const uint32_t node = stacks_.node_of[context];
      write_sample(writer, begin, node);
      // Whole units, so that the samples of a node sum up to its cost exactly.
      const auto before = static_cast<double>(given_[node]++);
      for (size_t m = 0; m < width_; ++m) {
        const double weight = weights.of(node, m);
        values_[m].signed_int = whole(weight * (before + 1), units_[m]) - whole(weight * before, units_[m]);
      }
      write_costs(writer, begin);
    });
    for (const size_t i : weights.untraced()) {
      write_sample(writer, end_ns, costs.nodes[i]);
      for (size_t m = 0; m < width_; ++m)
        values_[m].signed_int = whole(costs.values[i * tree_.metrics() + m], units_[m]);
      write_costs(writer, end_ns);
    }
    if (!idle) write_sample(writer, end_ns, OTF2_UNDEFINED_CALLING_CONTEXT);
    require(OTF2_EvtWriter_GetNumberOfEvents(writer, &thread.events));
  }

  void write_sample(OTF2_EvtWriter* writer, uint64_t time, OTF2_CallingContextRef context) {
    constexpr uint32_t kUnwindDistance =
        OTF2_UNDEFINED_UINT32;  // the number of frames that are new since the last sample is not known
    require(OTF2_EvtWriter_CallingContextSample(writer, nullptr, time, context, kUnwindDistance, kSampling));
  }
  void write_costs(OTF2_EvtWriter* writer, uint64_t time) {
    if (width_ == 0) return;
    require(OTF2_EvtWriter_Metric(writer, nullptr, time, kMetrics, static_cast<uint8_t>(width_),
                                  types_.data(), values_.data()));
  }

  OTF2_StringRef text(const std::string& content) {
    const auto [at, is_new] = texts_.try_emplace(content, static_cast<OTF2_StringRef>(texts_.size()));
    if (is_new)
      require(OTF2_GlobalDefWriter_WriteString(definitions_, at->second, valid_utf8(content).c_str()));
    return at->second;
  }

  void write_definitions() {
    definitions_ = OTF2_Archive_GetGlobalDefWriter(archive_.get());
    if (!definitions_) fail(kOwnFailure, "cannot write the archive: {}", std::strerror(errno));
    if (first_ns_ > last_ns_) first_ns_ = last_ns_;
    // Times are in nanoseconds since the epoch.
    require(OTF2_GlobalDefWriter_WriteClockProperties(definitions_, kNsPerSecond, first_ns_,
                                                      last_ns_ - first_ns_ + 1, first_ns_));
    text("");
    write_metrics();
    write_regions();
    write_contexts();
    write_threads();
  }

  void write_metrics() {
    const Sampling sampling = shown_sampling(tree_, run_summary(database_));
    const auto period = static_cast<uint64_t>(static_cast<double>(kNsPerSecond) /
                                              std::max(sampling.requested_hz.value_or(1000), 1.0));
    require(OTF2_GlobalDefWriter_WriteInterruptGenerator(definitions_, kSampling, text(sampling.source),
                                                         OTF2_INTERRUPT_GENERATOR_MODE_TIME,
                                                         OTF2_BASE_DECIMAL, -9, period));
    std::vector<OTF2_MetricMemberRef> members;
    for (size_t m = 0; m < width_; ++m) {
      const Metric& metric = tree_.metric(m);
      members.push_back(static_cast<OTF2_MetricMemberRef>(m));
      // The cost from the time of the value to the next.
      require(OTF2_GlobalDefWriter_WriteMetricMember(
          definitions_, members.back(), text(metric.name), text(metric.description), OTF2_METRIC_TYPE_OTHER,
          OTF2_METRIC_RELATIVE_NEXT, OTF2_TYPE_INT64, OTF2_BASE_DECIMAL, is_time(metric) ? -9 : 0,
          text(is_time(metric) ? "s" : metric.unit)));
    }
    if (width_ == 0) return;
    require(OTF2_GlobalDefWriter_WriteMetricClass(definitions_, kMetrics, static_cast<uint8_t>(width_),
                                                  members.data(), OTF2_METRIC_ASYNCHRONOUS,
                                                  OTF2_RECORDER_KIND_CPU));
  }

  void write_regions() {
    for (size_t i = 0; i < tree_.frames.size(); ++i) {
      const Frame& frame = tree_.frames[i];
      const OTF2_StringRef name = text(frame_name(database_, frame));
      const SourceLocation location = definition(frame);
      const std::string module =
          frame.module < database_.modules.size() ? database_.modules[frame.module].path : "";
      const std::string file =
          location.file < database_.files.size() ? database_.files[location.file].path : "";
      require(OTF2_GlobalDefWriter_WriteRegion(
          definitions_, static_cast<OTF2_RegionRef>(i), name, name, text(module), OTF2_REGION_ROLE_FUNCTION,
          OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, text(file), location.line, 0));
    }
  }

  // Writes the nodes of the stacks as contexts. An inlined call has the property "inlined".
  void write_contexts() {
    std::map<std::pair<uint32_t, uint32_t>, OTF2_SourceCodeLocationRef> lines;
    const OTF2_StringRef inlined = text("inlined");
    for (size_t n = 0; n < stacks_.nodes.size(); ++n) {
      const StackNode& node = stacks_.nodes[n];
      OTF2_SourceCodeLocationRef line = OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
      if (node.location.known()) {
        const auto [at, is_new] = lines.try_emplace({node.location.file, node.location.line},
                                                    static_cast<OTF2_SourceCodeLocationRef>(lines.size()));
        line = at->second;
        if (is_new)
          require(OTF2_GlobalDefWriter_WriteSourceCodeLocation(
              definitions_, line, text(database_.files[node.location.file].path), node.location.line));
      }
      const CallNode& call = tree_.nodes[node.call];
      require(OTF2_GlobalDefWriter_WriteCallingContext(
          definitions_, static_cast<OTF2_CallingContextRef>(n), call.frame, line,
          node.parent == kNone ? OTF2_UNDEFINED_CALLING_CONTEXT : node.parent));
      if (!call.inlined) continue;
      OTF2_AttributeValue yes;
      yes.uint8 = 1;
      require(OTF2_GlobalDefWriter_WriteCallingContextProperty(
          definitions_, static_cast<OTF2_CallingContextRef>(n), inlined, OTF2_TYPE_UINT8, yes));
    }
  }

  // Writes hosts, the processes on them, and their threads.
  void write_threads() {
    std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
    std::map<std::tuple<std::string, int32_t, int32_t>, OTF2_LocationGroupRef> processes;
    for (size_t location = 0; location < threads_.size(); ++location) {
      const ProfileId& id = database_.profiles[threads_[location].profile].id;
      const auto [host, new_host] =
          hosts.try_emplace(id.host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size()));
      if (new_host)
        require(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions_, host->second, text(id.host),
                                                         text("node"), OTF2_UNDEFINED_SYSTEM_TREE_NODE));
      const auto [process, new_process] = processes.try_emplace(
          {id.host, id.rank, id.process}, static_cast<OTF2_LocationGroupRef>(processes.size()));
      if (new_process) {
        const std::string name = id.rank >= 0
                                     ? fmt::format("rank {}", id.rank)
                                     : fmt::format("{} {}", database_.title, std::max(id.process, 0));
        require(OTF2_GlobalDefWriter_WriteLocationGroup(definitions_, process->second, text(name),
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, host->second,
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
      }
      require(OTF2_GlobalDefWriter_WriteLocation(
          definitions_, location, text(thread_label(database_, threads_[location].profile)),
          OTF2_LOCATION_TYPE_CPU_THREAD, threads_[location].events, process->second));
    }
  }

  const CallTree& tree_;
  const Database& database_;
  const size_t width_;
  const Stacks stacks_;
  std::unique_ptr<OTF2_Archive, CloseArchive> archive_;
  OTF2_GlobalDefWriter* definitions_ = nullptr;  // belongs to the archive
  std::vector<Thread> threads_;                  // by location number
  std::unordered_map<std::string, OTF2_StringRef> texts_;
  std::vector<OTF2_MetricValue> values_;
  std::vector<OTF2_Type> types_;
  std::vector<WholeUnit> units_;
  std::vector<uint64_t> given_;  // samples of each node written so far
  uint64_t first_ns_ = UINT64_MAX, last_ns_ = 0;
};

}  // namespace

bool has_otf2() {
  return true;
}

void export_otf2(const CallTree& tree, const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory))
    fail(kOwnFailure, "{} exists already; name a folder that does not exist", directory.string());
  OTF2_Error_RegisterCallback(remember_error, nullptr);
  Otf2Writer(tree, directory).write();
}

}  // namespace prof
