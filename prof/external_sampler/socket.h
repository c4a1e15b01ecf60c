#pragma once
// The socket on which processes of the run ask to be sampled from outside (hpcrun/sample/config.h).

#include <string>

namespace prof {

class OutsideSocket {
 public:
  OutsideSocket();
  ~OutsideSocket();
  OutsideSocket(const OutsideSocket&) = delete;
  OutsideSocket& operator=(const OutsideSocket&) = delete;

  const std::string& name() const { return name_; }  // empty where it could not be made
  int descriptor() const { return descriptor_; }     // readable when somebody asks

  struct Request {
    int pid = 0;  // of who asks
    char what = 0;
    int connection = -1;
  };

  // The next request of a process of this run; false when there is none, or when too many others connect, who
  // are refused. answer() lets the process go on.
  bool accept(Request& request) const;
  static void answer(const Request& request);

 private:
  int descriptor_ = -1;
  std::string name_;
};

}  // namespace prof
