// Recordings of perf: what its samples, mappings and names say, as a database.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/import/builder.h"
#include "analysis/import/formats.h"
#include "analysis/import/perf/address_space.h"
#include "analysis/import/perf/kernel_places.h"
#include "analysis/import/perf/mapped_files.h"
#include "analysis/import/perf/recording.h"
#include "analysis/import/perf/unwinder.h"
#include "analysis/pipeline/module_places.h"

namespace prof {

bool is_perf_data(std::span<const uint8_t> bytes) {
  const std::string_view magic(reinterpret_cast<const char*>(bytes.data()),
                               std::min(bytes.size(), perf::kMagic.size()));
  return magic == perf::kMagic || magic == perf::kOldMagic || magic == perf::kForeignMagic;
}

namespace perf {
namespace {

constexpr double kNanosecond = 1e-9;
// Roots of the tree of nodes.
constexpr uint32_t kMainThreadNode = 0, kOtherThreadNode = 1;

std::string this_host() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string file_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// A clock's periods are nanoseconds, whatever its samples are called.
bool is_clock(const perf_event_attr& attributes) {
  return attributes.type == PERF_TYPE_SOFTWARE &&
         (attributes.config == PERF_COUNT_SW_CPU_CLOCK || attributes.config == PERF_COUNT_SW_TASK_CLOCK);
}

struct Thread {
  uint32_t profile = 0;
  bool is_main = true;
  std::vector<std::pair<uint64_t, uint64_t>> trace;  // start of what ran, and its end
  std::vector<uint32_t> trace_nodes;
};

struct Process {
  AddressSpace space;
  uint32_t number = 0;  // of the program in it: another after each exec
  int32_t threads = 1;  // numbers that are given, the main thread's 0 included
};

class Importer : public Visitor {
 public:
  Importer(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options)
      : source_(source),
        options_(options),
        recording_(bytes, source.name, warnings_),
        here_(recording_.about().host == this_host()),
        unwinder_(options.attribution),
        files_(modules_, recording_.about().build_ids, source, {options.open_modules, here_}) {}

  Import run() {
    if (const size_t damaged = recording_.replay(*this); damaged > 0)
      warnings_.push_back(fmt::format("{}: {} damaged records; left out", source_.name, damaged));
    if (samples_ == 0) warnings_.push_back(fmt::format("{}: has no samples", source_.name));
    builder_.emplace(title());
    find_places();
    add_metrics();
    add_nodes();
    add_values();
    add_traces();
    describe_run();
    Import result;
    result.warnings = std::move(warnings_);
    result.database = builder_->finish(run_, result.warnings);
    return result;
  }

  void visit(const Sample& sample) override;
  void visit(const Mapping& mapping) override;
  void visit(const Name& name) override;
  void visit(const Fork& fork) override;
  void visit(const KernelSymbol& symbol) override { kernel_.add(symbol); }
  void lost(uint64_t samples) override { run_.dropped["lost"] += samples; }

 private:
  enum class Where : uint8_t { Module, Kernel };
  struct Frame {
    Where where = Where::Module;
    uint32_t module = 0;  // of modules_, for Where::Module
    uint64_t address = 0;
    bool operator==(const Frame&) const = default;
  };
  struct FrameHash {
    size_t operator()(const Frame& frame) const {
      return (frame.address ^ uint64_t{frame.module} << 40 ^ uint64_t(frame.where) << 63) *
                 0x9e3779b97f4a7c15u >>
             7;
    }
  };
  struct Node {
    uint32_t parent;
    uint32_t frame;
  };
  struct Cell {
    double value = 0;
    uint64_t samples = 0;
  };

  Frame user_frame(const Process& process, int32_t pid, uint64_t address);
  uint32_t intern(const Frame& frame);
  uint32_t child(uint32_t parent, uint32_t frame);
  Thread& thread_of(const Sample& sample);
  void find_frames(const Sample& sample, Process& process);
  void unwind(const Sample& sample, Process& process);
  void add_to_trace(Thread& thread, const Sample& sample, uint32_t node);

  std::string title() const;
  void find_places();
  void add_metrics();
  void add_nodes();
  void add_values();
  void add_traces();
  void describe_run();

  const ImportSource& source_;
  const ImportOptions& options_;
  std::vector<std::string> warnings_;
  Recording recording_;
  bool here_;  // recorded on this machine
  Unwinder unwinder_;
  std::optional<DatabaseBuilder> builder_;
  ImportedRun run_;

  ModulePlaces modules_;
  MappedFiles files_;
  std::unordered_map<int32_t, Process> processes_;
  uint32_t programs_ = 0;
  std::map<std::pair<int32_t, int32_t>, std::string> names_;  // by process and thread
  std::map<std::tuple<int32_t, uint32_t, int32_t>, Thread> threads_;
  std::vector<ProfileId> profiles_;

  std::vector<Frame> frames_;
  std::unordered_map<Frame, uint32_t, FrameHash> frame_numbers_;
  std::vector<Node> nodes_ = {{kNone, kNone}, {kNone, kNone}};
  std::unordered_map<uint64_t, uint32_t> children_;
  std::vector<std::unordered_map<uint64_t, Cell>> values_;  // by profile, then node and event
  std::vector<uint32_t> chain_;                             // frames of a sample, innermost first
  std::vector<uint64_t> unwound_;
  uint64_t samples_ = 0;
  std::optional<uint64_t> first_ns_, last_ns_;
  std::vector<uint64_t> of_event_;
  size_t traced_event_ = SIZE_MAX;

  KernelPlaces kernel_;
  std::vector<PlaceId> places_;     // by frame
  std::vector<uint32_t> contexts_;  // by node
  std::vector<uint32_t> metrics_;   // by event
};

Importer::Frame Importer::user_frame(const Process& process, int32_t pid, uint64_t address) {
  const MappedFiles::Code code = files_.code(process.space, pid, address);
  return {Where::Module, code.module, code.address};
}

uint32_t Importer::intern(const Frame& frame) {
  const auto [at, added] = frame_numbers_.try_emplace(frame, static_cast<uint32_t>(frames_.size()));
  if (added) {
    frames_.push_back(frame);
    if (frame.where == Where::Module) modules_.need(frame.module, frame.address);
  }
  return at->second;
}

uint32_t Importer::child(uint32_t parent, uint32_t frame) {
  const auto [at, added] =
      children_.try_emplace(uint64_t{parent} << 32 | frame, static_cast<uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({parent, frame});
  return at->second;
}

void Importer::visit(const Mapping& mapping) {
  if (mapping.kernel) return kernel_.add(mapping);
  if (mapping.data) return;
  processes_[mapping.pid].space.map(mapping.start, mapping.bytes, mapping.file_offset,
                                    files_.number(mapping));
}

void Importer::visit(const Name& name) {
  names_[{name.pid, name.tid}] = name.name;
  if (!name.executed) return;
  Process& process = processes_[name.pid];
  process = {};
  process.number = ++programs_;
}

void Importer::visit(const Fork& fork) {
  const auto name = names_.find({fork.parent_pid, fork.parent_tid});
  if (name != names_.end()) {
    const std::string inherited = name->second;
    names_[{fork.pid, fork.tid}] = inherited;
  }
  if (fork.pid == fork.parent_pid) return;
  const auto parent = processes_.find(fork.parent_pid);
  Process child;
  if (parent != processes_.end()) child.space = parent->second.space;
  child.number = ++programs_;
  processes_[fork.pid] = std::move(child);
}

Thread& Importer::thread_of(const Sample& sample) {
  Process& process = processes_[sample.pid];
  const auto [at, added] = threads_.try_emplace({sample.pid, process.number, sample.tid});
  Thread& thread = at->second;
  if (added) {
    thread.is_main = sample.pid == sample.tid;
    thread.profile = static_cast<uint32_t>(profiles_.size());
    ProfileId id;
    id.host = recording_.about().host;
    id.process = sample.pid;
    id.thread = thread.is_main ? 0 : process.threads++;
    profiles_.push_back(std::move(id));
    values_.emplace_back();
  }
  // The name that it has last is the one that users know it by.
  const auto name = names_.find({sample.pid, sample.tid});
  if (name != names_.end() && profiles_[thread.profile].thread_name != name->second)
    profiles_[thread.profile].thread_name = name->second;
  return thread;
}

void Importer::unwind(const Sample& sample, Process& process) {
  const UnwindEnd end =
      unwinder_.unwind(uint64_t{process.number} << 32 | static_cast<uint32_t>(sample.pid), process.space,
                       MappedFiles::unwind_module, &files_, sample, unwound_);
  switch (end) {
    case UnwindEnd::EndOfStack:
      ++run_.complete["end_of_stack"];
      break;
    case UnwindEnd::StackPieceEnds:
      ++run_.partial["stack_cut"];
      break;
    case UnwindEnd::TooDeep:
      ++run_.partial["too_deep"];
      break;
    case UnwindEnd::NoUnwindInfo:
      ++run_.partial["no_unwind_info"];
      break;
    case UnwindEnd::Unsupported:
      ++run_.partial["unsupported"];
      break;
  }
  for (const uint64_t address : unwound_) chain_.push_back(intern(user_frame(process, sample.pid, address)));
}

void Importer::find_frames(const Sample& sample, Process& process) {
  chain_.clear();
  bool in_kernel = sample.cpu_mode() == PERF_RECORD_MISC_KERNEL;
  bool interrupted = true;  // the next address is no return address
  bool any_user = false;
  const auto add = [&](uint64_t address) {
    if (!interrupted) --address;
    interrupted = false;
    any_user |= !in_kernel;
    const uint32_t frame =
        intern(in_kernel ? Frame{Where::Kernel, 0, address} : user_frame(process, sample.pid, address));
    // Frame pointers that lead nowhere lead there more than once.
    const bool nowhere = frames_[frame].where == Where::Module &&
                         files_.is_unknown({frames_[frame].module, frames_[frame].address});
    if (!(nowhere && !chain_.empty() && chain_.back() == frame)) chain_.push_back(frame);
  };
  for (const uint64_t entry : sample.call_chain) {
    if (entry >= kFirstContext) {
      in_kernel = entry == PERF_CONTEXT_KERNEL || entry == PERF_CONTEXT_HV;
      interrupted = true;
    } else {
      add(entry);
    }
  }
  const bool dwarf = !sample.user_registers.empty() && !sample.user_stack.empty();
  const bool without_chain = chain_.empty();
  if (dwarf && !any_user) unwind(sample, process);
  if (without_chain && (chain_.empty() || sample.cpu_mode() == PERF_RECORD_MISC_KERNEL)) {
    const std::vector<uint32_t> outer = std::move(chain_);
    chain_.clear();
    in_kernel = sample.cpu_mode() == PERF_RECORD_MISC_KERNEL;
    interrupted = true;
    add(sample.ip);
    chain_.insert(chain_.end(), outer.begin(), outer.end());
  }
}

// A clock's sample says what ran in the period before it; any other one what ran since the one before it.
void Importer::add_to_trace(Thread& thread, const Sample& sample, uint32_t node) {
  if (!sample.time_ns || sample.event != traced_event_) return;
  const uint64_t time = *sample.time_ns;
  const uint64_t last = thread.trace.empty() ? 0 : thread.trace.back().second;
  uint64_t start = thread.trace.empty() ? time : last;
  if (is_clock(recording_.events()[sample.event].attributes)) {
    start = time - std::min(time, sample.period);
    // Samples are never quite on time.
    if (start < last || start - last < sample.period / 2)
      start = std::max(last, thread.trace.empty() ? start : last);
  }
  thread.trace.emplace_back(std::min(std::max(start, last), time), time);
  thread.trace_nodes.push_back(node);
}

void Importer::visit(const Sample& sample) {
  ++samples_;
  of_event_.resize(recording_.events().size());
  ++of_event_[sample.event];
  if (traced_event_ == SIZE_MAX) traced_event_ = sample.event;
  if (sample.time_ns) {
    if (!first_ns_) first_ns_ = sample.time_ns;
    last_ns_ = sample.time_ns;
  }
  Thread& thread = thread_of(sample);
  find_frames(sample, processes_[sample.pid]);
  uint32_t node = thread.is_main ? kMainThreadNode : kOtherThreadNode;
  for (auto frame = chain_.rbegin(); frame != chain_.rend(); ++frame) node = child(node, *frame);
  Cell& cell = values_[thread.profile][uint64_t{node} << 32 | sample.event];
  cell.value += static_cast<double>(sample.period);
  ++cell.samples;
  add_to_trace(thread, sample, node);
}

// The program with the most samples.
std::string Importer::title() const {
  std::map<std::string, uint64_t> samples;
  for (size_t i = 0; i < profiles_.size(); ++i)
    for (const auto& [key, cell] : values_[i]) samples[profiles_[i].thread_name] += cell.samples;
  std::string best = file_name(source_.name);
  uint64_t most = 0;
  for (const auto& [name, count] : samples) {
    if (count <= most || name.empty()) continue;
    most = count;
    best = name;
  }
  return best;
}

void Importer::find_places() {
  modules_.attribute(options_.attribution, options_.jobs, builder_->places(), builder_->database(),
                     warnings_);
  places_.reserve(frames_.size());
  const bool any_kernel =
      std::ranges::any_of(frames_, [](const Frame& f) { return f.where == Where::Kernel; });
  if (any_kernel && options_.open_modules) kernel_.find_names(recording_.about().build_ids, here_, warnings_);
  for (const Frame& frame : frames_)
    places_.push_back(frame.where == Where::Kernel ? kernel_.place(frame.address, *builder_)
                                                   : modules_.place(frame.module, frame.address));
}

void Importer::add_metrics() {
  of_event_.resize(recording_.events().size());
  for (size_t i = 0; i < of_event_.size(); ++i) {
    const Event& event = recording_.events()[i];
    // perf's own dummy events have no samples.
    if (of_event_[i] == 0 && samples_ != 0) {
      metrics_.push_back(kNone);
      continue;
    }
    ImportedMetric metric;
    metric.name = event.name;
    metric.description = "periods of perf's samples of " + event.name;
    metric.source = "perf";
    if (is_clock(event.attributes)) {
      metric.unit = "sec";
      metric.scale = kNanosecond;
    }
    if (event.attributes.freq)
      metric.requested_hz = static_cast<double>(event.attributes.sample_freq);
    else if (is_clock(event.attributes) && event.attributes.sample_period > 0)
      metric.requested_hz = 1e9 / static_cast<double>(event.attributes.sample_period);
    metrics_.push_back(builder_->metric(metric));
  }
}

void Importer::add_nodes() {
  contexts_.resize(nodes_.size(), kNone);
  // Only where something was sampled: a tree without other threads has no entry point for them.
  const auto entry = [&](uint32_t root) {
    if (contexts_[root] == kNone) contexts_[root] = builder_->contexts().entry(root == kMainThreadNode);
    return contexts_[root];
  };
  for (const auto& [key, thread] : threads_) entry(thread.is_main ? kMainThreadNode : kOtherThreadNode);
  for (uint32_t i = kOtherThreadNode + 1; i < nodes_.size(); ++i)
    contexts_[i] = builder_->contexts().extend(contexts_[nodes_[i].parent], places_[nodes_[i].frame]);
}

void Importer::add_values() {
  for (size_t i = 0; i < profiles_.size(); ++i) {
    const uint32_t profile = builder_->profile(profiles_[i]);
    for (const auto& [key, cell] : values_[i])
      builder_->add(profile, metrics_[static_cast<uint32_t>(key)], contexts_[key >> 32], cell.value,
                    cell.samples);
    values_[i] = {};
  }
}

void Importer::add_traces() {
  const std::optional<ClockData>& clock = recording_.about().clock;
  uint64_t to_epoch = clock && clock->wall_ns >= clock->clock_ns ? clock->wall_ns - clock->clock_ns : 0;
  if (last_ns_ && *last_ns_ > UINT64_MAX - to_epoch) to_epoch = 0;  // nothing real
  for (auto& [key, thread] : threads_) {
    std::vector<TraceRecord> records;
    uint64_t end = 0;
    for (size_t i = 0; i < thread.trace.size(); ++i) {
      if (i > 0 && thread.trace[i].first > end) records.push_back({end + to_epoch, kNone});
      records.push_back({thread.trace[i].first + to_epoch, contexts_[thread.trace_nodes[i]]});
      end = thread.trace[i].second;
    }
    if (!records.empty()) records.push_back({end + to_epoch, kNone});
    thread.trace = {};
    thread.trace_nodes = {};
    builder_->add_trace(thread.profile, std::move(records));
  }
}

void Importer::describe_run() {
  const About& about = recording_.about();
  for (const std::string& word : about.command) run_.command += (run_.command.empty() ? "" : " ") + word;
  run_.host = about.host;
  if (first_ns_ && *last_ns_ >= *first_ns_)
    run_.wall_s = static_cast<double>(*last_ns_ - *first_ns_) * kNanosecond;
  if (about.clock && first_ns_) run_.start_ns = *first_ns_ - about.clock->clock_ns + about.clock->wall_ns;
}

}  // namespace
}  // namespace perf

Import import_perf(std::span<const uint8_t> bytes, const ImportSource& source, const ImportOptions& options) {
  return perf::Importer(bytes, source, options).run();
}

}  // namespace prof
