#pragma once
// Shared by the OpenCL samples: the first device, kernels and host work of a given duration, and the record
// of what the device did, which a program that controls its schedule can print.

#include <CL/cl.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace opencl {

// Ends the program with status 1 if a call failed.
void require(cl_int status, const char* call);

// The command line: [--schedule] [steps]
struct Options {
  bool schedule = false;  // print the device's schedule at the end
  int steps = 0;
};
Options parse_options(int argc, char** argv, int default_steps);

uint64_t now_ns();  // CLOCK_MONOTONIC

// Computes without memory accesses or system calls, with a measured number of turns per millisecond.
class HostWork {
 public:
  HostWork();
  [[gnu::noinline]] void run(double milliseconds) const;

 private:
  double turns_per_millisecond_;
};

class Device {
 public:
  // Opens the first device, builds the kernels and measures how long they take. Ends the program with status
  // 77 if there is none.
  explicit Device(const Options& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  cl_context context() const { return context_; }
  uint64_t opened_ns() const { return opened_ns_; }
  cl_command_queue new_queue();
  cl_kernel new_kernel(const char* name);
  // Enqueues a kernel of `program.cl` that runs for `milliseconds` on one compute unit and adds 1 to the
  // first word of its buffer.
  void enqueue(cl_command_queue queue, cl_kernel kernel, cl_mem buffer, double milliseconds);
  cl_mem new_buffer(size_t bytes);

  // Returns an event for a command that belongs into the schedule, or nullptr if no schedule is requested.
  cl_event* event();
  // Adds the time that the calling thread waited, as measured by itself.
  void add_wait(uint64_t begin_ns);

  // Returns (start, end) of all commands, in the device's nanoseconds, once they have ended.
  std::vector<std::pair<uint64_t, uint64_t>> schedule();
  // The same from the time at which each was enqueued.
  std::vector<std::pair<uint64_t, uint64_t>> outstanding();
  // Prints the schedule to standard error, one "name value" per line, in seconds.
  void state_schedule();

 private:
  double calibrate();

  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_program program_ = nullptr;
  double turns_per_millisecond_ = 0;
  bool keeps_schedule_ = false;
  std::vector<cl_event> events_;
  uint64_t opened_ns_ = 0;
  uint64_t waited_ns_ = 0;
};

// Returns how long at least one of the intervals was open, in nanoseconds.
uint64_t covered(std::vector<std::pair<uint64_t, uint64_t>> intervals);

}  // namespace opencl
