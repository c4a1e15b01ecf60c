#pragma once
// Gives root another user's file access rights while it writes to that user's directory or copies files that
// the user's program names. The kernel then refuses what it would refuse to that user.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace prof {

// Applies to the thread that creates it, and to threads that this one starts, until the same thread destroys
// it. Only file access is affected: signals, ptrace and limits stay root's.
class UserRights {
 public:
  // Throws WriteError if the rights cannot be assumed (a user that the namespace does not have).
  UserRights(uid_t user, gid_t group, const std::vector<gid_t>& groups);
  // Uses the groups of the system's user database; without an entry there, only the group "nobody".
  explicit UserRights(uid_t user);
  // Uses the groups of a process.
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

// Returns the rights of the directory's owner if this is root and the directory belongs to another user.
// Otherwise, and if the directory does not exist, returns nullopt. Throws WriteError.
std::optional<UserRights> rights_for(const std::filesystem::path& directory);

}  // namespace prof
