#pragma once
// The socket on which processes of the run request to be sampled from outside (hpcrun/sample/config.h).

#include <string>

namespace prof {

class OutsideSocket {
 public:
  OutsideSocket();
  ~OutsideSocket();
  OutsideSocket(const OutsideSocket&) = delete;
  OutsideSocket& operator=(const OutsideSocket&) = delete;

  const std::string& name() const { return name_; }  // empty if it could not be created
  int descriptor() const { return descriptor_; }     // readable when there is a request

  struct Request {
    int pid = 0;  // of the process that requests
    char what = 0;
    int connection = -1;
  };

  // Takes the next request of a process of this run. Returns false if there is none, or if too many other
  // processes connect, which are refused. answer() lets the process continue.
  bool accept(Request& request) const;
  static void answer(const Request& request);

 private:
  int descriptor_ = -1;
  std::string name_;
};

}  // namespace prof
