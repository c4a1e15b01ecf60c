// Perfetto's trace format: each sample of the trace with its call path, a counter for each metric with the
// thread's cost until then, and each device task with an arrow from its submission. Packets follow each other
// without an end mark, so the trace is written packet by packet.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/database/utf8.h"
#include "analysis/views/run/run_summary.h"
#include "analysis/views/tree/own_costs.h"
#include "analysis/views/tree/source_locations.h"
#include "prof/export/formats.h"
#include "prof/export/lanes.h"
#include "prof/export/perfetto.pb.h"
#include "prof/export/trace.h"

namespace prof {
namespace {

namespace pb = perfetto;

constexpr uint32_t kSequence = 1;
constexpr uint32_t kStateCleared = 1, kNeedsState = 2;  // sequence_flags
// TrackEvent::type
constexpr uint32_t kSliceBegins = 1, kSliceEnds = 2, kInstantEvent = 3, kCounterEvent = 4;
constexpr uint64_t kTaskCategory = 1, kSubmitCategory = 2, kWaitCategory = 3;
constexpr uint32_t kRealtimeClock = 1, kBoottimeClock = 6;
constexpr uint32_t kUserMode = 2;
// A database identifies a thread by its index. Numbers above those of real threads (pid_max) cannot be
// mistaken for one.
constexpr int32_t kFirstMadeUpNumber = 1 << 22;
constexpr size_t kItemsInPiece = 1000;  // of interned data in one packet

class PerfettoWriter {
 public:
  PerfettoWriter(const CallTree& tree, Output& out)
      : tree_(tree),
        database_(*tree.database),
        out_(out),
        costs_(tree, tree.node_of, tree.nodes.size()),
        weights_(tree, tree.node_of, tree.nodes.size()) {}

  void write() {
    write_start();
    write_names();
    write_call_paths();
    for (const uint32_t thread : tree_.selection.profiles) write_thread(thread);
    if (database_.launches || database_.device_waits) write_device_events();
  }

 private:
  pb::TracePacket& new_packet() {
    pb::TracePacket& packet = *trace_.mutable_packet(0);
    packet.Clear();
    packet.set_trusted_packet_sequence_id(kSequence);
    packet.set_sequence_flags(kNeedsState);
    return packet;
  }
  void write_packet() {
    trace_.SerializeToString(&bytes_);
    out_.write(bytes_);
  }

  void write_start() {
    trace_.add_packet();
    pb::TracePacket& clocks = new_packet();
    clocks.set_sequence_flags(kStateCleared);
    const uint64_t start = first_time_ns(tree_);
    for (const uint32_t id : {kBoottimeClock, kRealtimeClock}) {
      pb::ClockSnapshot::Clock* clock = clocks.mutable_clock_snapshot()->add_clocks();
      clock->set_clock_id(id);
      clock->set_timestamp(start);
    }
    pb::Timebase* timebase =
        clocks.mutable_trace_packet_defaults()->mutable_perf_sample_defaults()->mutable_timebase();
    const Sampling sampling = shown_sampling(tree_, run_summary(database_));
    timebase->set_frequency(static_cast<uint64_t>(sampling.requested_hz.value_or(0)));
    timebase->set_name(tree_.metrics() > 0 ? valid_utf8(tree_.metric(0).name) : "");
    write_packet();
  }

  // Writes interned data in pieces: calls fill(data, i) for each item.
  template <typename Fill>
  void intern(size_t count, Fill fill) {
    for (size_t i = 0; i < count;) {
      pb::InternedData* data = new_packet().mutable_interned_data();
      for (const size_t end = std::min(count, i + kItemsInPiece); i < end; ++i) fill(*data, i);
      write_packet();
    }
  }

  static void set(pb::InternedString* text, size_t number, const std::string& content) {
    text->set_iid(number + 1);
    text->set_str(valid_utf8(content));
  }

  // Identifiers are the numbers of the database and tree plus one. Frames without a module get one without a
  // name, because Perfetto omits frames without a mapping.
  void write_names() {
    const size_t modules = database_.modules.size();
    intern(modules + 1, [&](pb::InternedData& data, size_t i) {
      set(data.add_mapping_paths(), i, i < modules ? database_.modules[i].path : "");
      pb::Mapping* mapping = data.add_mappings();
      mapping->set_iid(i + 1);
      mapping->add_path_string_ids(i + 1);
    });
    intern(database_.files.size(), [&](pb::InternedData& data, size_t i) {
      set(data.add_source_paths(), i, database_.files[i].path);
    });
    intern(tree_.frames.size(), [&](pb::InternedData& data, size_t i) {
      const Frame& frame = tree_.frames[i];
      set(data.add_function_names(), i, frame_name(database_, frame));
      pb::Frame* written = data.add_frames();
      written->set_iid(i + 1);
      written->set_function_name_id(i + 1);
      written->set_mapping_id(std::min<size_t>(frame.module, modules) + 1);
      // Perfetto identifies a frame by its address. Functions inlined at one address must not become one
      // frame.
      written->set_rel_pc(i + 1);
      const SourceLocation location = definition(frame);
      if (!location.known()) return;
      written->set_source_path_iid(location.file + 1);
      written->set_line_number(location.line);
    });
  }

  void write_call_paths() {
    std::vector<uint64_t> path;
    intern(tree_.nodes.size(), [&](pb::InternedData& data, size_t i) {
      pb::Callstack* written = data.add_callstacks();
      written->set_iid(i + 1);
      path.clear();
      for (auto n = static_cast<uint32_t>(i); n != kNone; n = tree_.nodes[n].parent)
        path.push_back(tree_.nodes[n].frame + 1);
      written->mutable_frame_ids()->Add(path.rbegin(), path.rend());
    });
  }

  // Returns a unique number: processes of several machines may have the same one.
  int32_t process_number(const ProfileId& id) {
    const auto [at, is_new] = processes_.try_emplace({id.host, id.rank, id.process}, id.process);
    if (!is_new) return at->second;
    int32_t& number = at->second;
    const bool taken = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
      return &other.second != &number && other.second == id.process;
    });
    if (taken || id.process < 0) number = next_number_++;
    pb::TrackDescriptor* track = new_packet().mutable_track_descriptor();
    track->set_uuid(next_track_++);
    track->mutable_process()->set_pid(at->second);
    track->mutable_process()->set_process_name(
        valid_utf8(id.rank >= 0 ? fmt::format("rank {} {}", id.rank, database_.title) : database_.title));
    track->mutable_process()->add_cmdline(valid_utf8(run_summary(database_).command));
    write_packet();
    return at->second;
  }

  // The track of a thread, or of a device queue, which looks like a thread.
  struct ThreadTrack {
    uint64_t uuid = 0;  // 0: not written yet
    int32_t process = 0, thread = 0;
  };

  const ThreadTrack& thread_track(uint32_t profile) {
    ThreadTrack& written = thread_tracks_[profile];
    if (written.uuid != 0) return written;
    const ProfileId& id = database_.profiles[profile].id;
    written.process = process_number(id);
    written.thread = id.thread == 0 ? written.process : next_number_++;
    written.uuid = next_track_++;
    pb::TrackDescriptor* track = new_packet().mutable_track_descriptor();
    track->set_uuid(written.uuid);
    track->mutable_thread()->set_pid(written.process);
    track->mutable_thread()->set_tid(written.thread);
    track->mutable_thread()->set_thread_name(valid_utf8(thread_label(database_, profile)));
    write_packet();
    return written;
  }

  void write_thread(uint32_t profile) {
    if (!has_trace(database_, profile)) return;
    const ThreadTrack track = thread_track(profile);
    const uint64_t first_counter = next_track_;
    for (size_t m = 0; m < tree_.metrics(); ++m) write_counter(track.uuid, tree_.metric(m));

    const OwnCosts& costs = costs_.of(profile);
    weights_.prepare(profile, costs);
    spent_.assign(tree_.metrics(), 0);
    uint64_t end_ns = 0;
    for_each_stretch(database_, profile, [&](uint64_t begin, uint64_t end, uint32_t context) {
      end_ns = end;
      if (context == kNone) return;
      const uint32_t node = tree_.node_of[context];
      write_sample(begin, track.process, track.thread, node);
      // A counter has a value from its time on. A sample's value is the cost of its stretch of time.
      for (size_t m = 0; m < tree_.metrics(); ++m) {
        const double weight = weights_.of(node, m);
        if (weight == 0) continue;
        write_count(begin, first_counter + m, spent_[m] += weight);
      }
    });
    for (const size_t i : weights_.untraced()) {
      write_sample(end_ns, track.process, track.thread, costs.nodes[i]);
      for (size_t m = 0; m < tree_.metrics(); ++m)
        write_count(end_ns, first_counter + m, spent_[m] += costs.values[i * tree_.metrics() + m]);
    }
  }

  void write_counter(uint64_t thread_track, const Metric& metric) {
    pb::TrackDescriptor* track = new_packet().mutable_track_descriptor();
    track->set_uuid(next_track_++);
    track->set_parent_uuid(thread_track);
    track->set_name(valid_utf8(metric.name));
    track->mutable_counter()->set_unit_name(valid_utf8(metric.unit));
    write_packet();
  }

  void write_sample(uint64_t time_ns, int32_t process, int32_t thread, uint32_t node) {
    pb::TracePacket& packet = new_packet();
    packet.set_timestamp(time_ns);
    pb::PerfSample* sample = packet.mutable_perf_sample();
    sample->set_pid(static_cast<uint32_t>(process));
    sample->set_tid(static_cast<uint32_t>(thread));
    sample->set_callstack_iid(node + 1);
    sample->set_cpu(0);
    sample->set_cpu_mode(kUserMode);
    write_packet();
  }

  void write_count(uint64_t time_ns, uint64_t track, double value) {
    new_event(time_ns, kCounterEvent, track).set_double_counter_value(value);
    write_packet();
  }

  // Names of events: of a task, of its submission, and of a call that waits.
  static uint64_t task_name(uint32_t task) { return 2 * uint64_t{task} + 1; }
  static uint64_t submit_name(uint32_t task) { return 2 * uint64_t{task} + 2; }
  uint64_t wait_name(uint32_t call) const { return 2 * database_.task_names.size() + 1 + call; }

  static void set_name(pb::InternedName* interned, uint64_t number, const std::string& content) {
    interned->set_iid(number);
    interned->set_name(valid_utf8(content));
  }

  void write_event_names() {
    const std::vector<std::string>& tasks = database_.task_names;
    intern(tasks.size(), [&](pb::InternedData& data, size_t i) {
      const auto task = static_cast<uint32_t>(i);
      set_name(data.add_event_names(), task_name(task), tasks[i]);
      set_name(data.add_event_names(), submit_name(task), "submit " + tasks[i]);
    });
    const std::vector<std::string>& calls = database_.wait_names;
    intern(calls.size(), [&](pb::InternedData& data, size_t i) {
      set_name(data.add_event_names(), wait_name(static_cast<uint32_t>(i)), calls[i]);
    });
    pb::InternedData* data = new_packet().mutable_interned_data();
    set_name(data->add_event_categories(), kTaskCategory, "task");
    set_name(data->add_event_categories(), kSubmitCategory, "submit");
    set_name(data->add_event_categories(), kWaitCategory, "wait");
    write_packet();
  }

  // Readers sort events by time, and keep the file's order for equal times. A submission precedes its task,
  // and a task ends before the next one begins.
  void write_device_events() {
    write_event_names();
    std::vector<bool> is_selected(database_.profiles.size());
    for (const uint32_t profile : tree_.selection.profiles) is_selected[profile] = true;
    if (database_.launches) write_launches(is_selected);
    if (database_.device_waits) write_waits(is_selected);
  }

  void write_launches(const std::vector<bool>& is_selected) {
    uint64_t flow = 0;
    LaunchSource next = database_.launches;
    std::vector<DeviceLaunch> block;
    while (next(block)) {
      for (const DeviceLaunch& launch : block) {
        if (!is_selected[launch.queue]) continue;
        const bool has_thread = launch.thread != kNone && is_selected[launch.thread];
        if (has_thread) write_submission(launch, ++flow);
        write_task(launch, has_thread ? flow : 0);
      }
    }
  }

  void write_waits(const std::vector<bool>& is_selected) {
    DeviceWaitSource next = database_.device_waits;
    std::vector<WaitForDevice> block;
    while (next(block)) {
      for (const WaitForDevice& wait : block) {
        if (!is_selected[wait.thread]) continue;
        const uint64_t track = thread_track(wait.thread).uuid;
        write_slice(wait.begin_ns, wait.end_ns, track, wait_name(wait.call), kWaitCategory, 0);
      }
    }
  }

  void write_submission(const DeviceLaunch& launch, uint64_t flow) {
    const uint64_t track = thread_track(launch.thread).uuid;
    pb::TrackEvent& event = new_event(launch.submit_ns, kInstantEvent, track);
    event.set_name_iid(submit_name(launch.task));
    event.add_category_iids(kSubmitCategory);
    event.add_flow_ids(flow);
    write_packet();
  }

  void write_task(const DeviceLaunch& launch, uint64_t flow) {
    const uint64_t track = lane_track(launch);
    write_slice(launch.start_ns, launch.end_ns, track, task_name(launch.task), kTaskCategory, flow);
  }

  // `flow` is the end of an arrow, unless it is 0.
  void write_slice(uint64_t begin_ns, uint64_t end_ns, uint64_t track, uint64_t name, uint64_t category,
                   uint64_t flow) {
    pb::TrackEvent& event = new_event(begin_ns, kSliceBegins, track);
    event.set_name_iid(name);
    event.add_category_iids(category);
    if (flow != 0) event.add_terminating_flow_ids(flow);
    write_packet();
    new_event(end_ns, kSliceEnds, track);
    write_packet();
  }

  // Returns the queue's own track, or another track below it if tasks overlap.
  uint64_t lane_track(const DeviceLaunch& launch) {
    QueueTracks& queue = queues_[launch.queue];
    const uint32_t lane = queue.lanes.place(launch.start_ns, launch.end_ns);
    if (lane < queue.tracks.size()) return queue.tracks[lane];
    const uint64_t thread = thread_track(launch.queue).uuid;
    if (lane == 0) return queue.tracks.emplace_back(thread);
    pb::TrackDescriptor* track = new_packet().mutable_track_descriptor();
    track->set_uuid(next_track_);
    track->set_parent_uuid(thread);
    track->set_name(fmt::format("at the same time ({})", lane + 1));
    write_packet();
    return queue.tracks.emplace_back(next_track_++);
  }

  pb::TrackEvent& new_event(uint64_t time_ns, uint32_t type, uint64_t track) {
    pb::TracePacket& packet = new_packet();
    packet.set_timestamp(time_ns);
    pb::TrackEvent& event = *packet.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(track);
    return event;
  }

  struct QueueTracks {
    Lanes lanes;
    std::vector<uint64_t> tracks;  // one per lane
  };

  const CallTree& tree_;
  const Database& database_;
  Output& out_;
  OwnCostsByThread costs_;
  SampleWeights weights_;
  pb::Trace trace_;  // holds one packet, the next to write
  std::string bytes_;
  std::map<std::tuple<std::string, int32_t, int32_t>, int32_t> processes_;
  std::map<uint32_t, ThreadTrack> thread_tracks_;  // by profile
  std::map<uint32_t, QueueTracks> queues_;         // likewise
  int32_t next_number_ = kFirstMadeUpNumber;
  uint64_t next_track_ = 1;
  std::vector<double> spent_;  // cost of the thread so far, per metric
};

}  // namespace

void export_perfetto(const CallTree& tree, Output& out) {
  PerfettoWriter(tree, out).write();
}

}  // namespace prof
