#include "analysis/files/user_rights.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "analysis/files/folder.h"
#include "analysis/files/folder_walk.h"

namespace prof {
namespace {

constexpr gid_t kNobody = 65534;
constexpr int kMaxGroups = 65536;  // NGROUPS_MAX

// A direct system call, because the C library would change the groups of all threads.
long set_groups(const std::vector<gid_t>& groups) {
  return ::syscall(SYS_setgroups, groups.size(), groups.data());
}

gid_t group_for_files() {
  return static_cast<gid_t>(::syscall(SYS_setfsgid, -1));
}

std::vector<gid_t> present_groups() {
  std::vector<gid_t> groups(kMaxGroups);
  const int count = ::getgroups(kMaxGroups, groups.data());
  groups.resize(count < 0 ? 0 : static_cast<size_t>(count));
  return groups;
}

gid_t group_of(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  return entry ? entry->pw_gid : kNobody;
}

std::vector<gid_t> groups_of(uid_t user) {
  const passwd* const entry = ::getpwuid(user);
  if (!entry) return {};
  std::vector<gid_t> groups(kMaxGroups);
  int count = kMaxGroups;
  if (::getgrouplist(entry->pw_name, entry->pw_gid, groups.data(), &count) < 0) return {};
  groups.resize(static_cast<size_t>(count));
  return groups;
}

std::vector<gid_t> groups_of_process(int pid) {
  constexpr std::string_view kField = "Groups:";
  std::vector<gid_t> groups;
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(kField)) continue;
    std::istringstream numbers(line.substr(kField.size()));
    for (gid_t group; numbers >> group;) groups.push_back(group);
  }
  return groups;
}

}  // namespace

UserRights::UserRights(uid_t user, gid_t group, const std::vector<gid_t>& groups)
    : user_(user), own_user_(user_for_files()), own_group_(group_for_files()), own_groups_(present_groups()) {
  take(group, groups);
}

UserRights::UserRights(uid_t user) : UserRights(user, group_of(user), groups_of(user)) {}

UserRights UserRights::of_process(int pid, uid_t user, gid_t group) {
  return {user, group, groups_of_process(pid)};
}

UserRights::UserRights(UserRights&& other) noexcept
    : user_(other.user_),
      own_user_(other.own_user_),
      own_group_(other.own_group_),
      own_groups_(std::move(other.own_groups_)),
      is_held_(std::exchange(other.is_held_, false)) {}

UserRights::~UserRights() {
  give_back();
}

void UserRights::take(gid_t group, const std::vector<gid_t>& groups) {
  const bool has_groups = set_groups(groups) == 0;
  ::syscall(SYS_setfsgid, group);
  ::syscall(SYS_setfsuid, user_);
  if (has_groups && group_for_files() == group && user_for_files() == user_) return;
  give_back();
  throw WriteError(
      fmt::format("the rights of {} are not available here; run prof as this user", name_of_user(user_)),
      EPERM);
}

// Restores the user first, because changing groups needs its rights.
void UserRights::give_back() noexcept {
  if (!std::exchange(is_held_, false)) return;
  ::syscall(SYS_setfsuid, own_user_);
  ::syscall(SYS_setfsgid, own_group_);
  set_groups(own_groups_);
}

std::optional<UserRights> rights_for(const std::filesystem::path& directory) {
  struct stat status {};
  if (user_for_files() != 0 || ::stat(directory.c_str(), &status) != 0 || status.st_uid == 0)
    return std::nullopt;
  return UserRights(status.st_uid);
}

}  // namespace prof
