#pragma once
// The rights of another user for files, which root takes on before it writes to that user's directory or
// copies what his program names: the kernel then refuses what it would refuse to him.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace prof {

// Of the thread that makes it and of those that it starts meanwhile, until it is destroyed (by the same
// thread). Only files are concerned: signals, ptrace and limits stay root's.
class UserRights {
 public:
  // Throws WriteError where they cannot be taken on (a user that the namespace does not have).
  UserRights(uid_t user, gid_t group, const std::vector<gid_t>& groups);
  // With the groups of the system's user database; without an entry there, with none but the group "nobody".
  explicit UserRights(uid_t user);
  // With the groups that a process has.
  static UserRights of_process(int pid, uid_t user, gid_t group);
  UserRights(UserRights&& other) noexcept;
  UserRights& operator=(UserRights&&) = delete;
  ~UserRights();

 private:
  void take(gid_t group, const std::vector<gid_t>& groups);
  void give_back() noexcept;

  uid_t user_, own_user_;
  gid_t own_group_;
  std::vector<gid_t> own_groups_;
  bool is_held_ = true;
};

// Those of the directory's owner, if this is root and the directory is another user's; else nothing, also if
// it is not there. Throws WriteError.
std::optional<UserRights> rights_for(const std::filesystem::path& directory);

}  // namespace prof
