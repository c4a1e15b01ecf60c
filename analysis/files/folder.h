#pragma once
// Creates, replaces, renames and removes files. Everything that prof writes goes through here, because other
// users may have planted links, pipes or directories where it writes, and root runs prof as well.
//
// A Folder is a descriptor of a directory. It is refused if it belongs to another user, or if the path leads
// through a symbolic link that another user could have planted. Names in it are then resolved from the
// descriptor and never through a link: a file is made under a random name (O_EXCL) and renamed. Errors are
// WriteErrors. Objects are not shared between threads; the functions may be called from any.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace prof {

// Who may read what prof writes, besides its user. The umask does not widen it.
enum class SharedWith : uint8_t { Nobody, Group, World };

// For the whole process; call it before the first file is written. Nobody is the default.
void set_shared_with(SharedWith with);
SharedWith shared_with();
mode_t shared_file_mode();    // 0600, 0640, 0644
mode_t shared_folder_mode();  // 0700, 0750, 0755

// what() is one line: the path, the cause, the remedy.
class WriteError : public std::runtime_error {
 public:
  WriteError(const std::string& line, int error)
      : std::runtime_error(line), code_(error, std::generic_category()) {}
  const std::error_code& code() const { return code_; }

 private:
  std::error_code code_;
};

enum class FolderOwner : uint8_t {
  Own,  // it belongs to the user whose rights this thread has for files
  Any,  // for a file that the user named, such as `-o FILE`
};

class Folder {
 public:
  // Opens an existing directory. Throws WriteError.
  explicit Folder(const std::filesystem::path& path, FolderOwner owner = FolderOwner::Own);
  // Makes it, and missing ones above it, with shared_folder_mode(). One that exists has to be the user's own,
  // and keeps its mode.
  static Folder make(const std::filesystem::path& path);
  // The directory that `path` lies in, which may be another user's; made with those above it if it is
  // missing.
  static Folder above(const std::filesystem::path& path);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  const std::filesystem::path& path() const { return path_; }  // as it was given, for messages
  int descriptor() const { return descriptor_; }               // O_PATH; the Folder's
  bool is_new() const { return is_new_; }                      // make() made it
  uid_t owner() const;

  // Opens a regular file of the folder's user with `flags` of open(2), O_CREAT included; never follows a
  // link. The caller closes it.
  int open(const std::string& name, int flags) const;
  // Replaces the file in one step. It has shared_file_mode(), or what `at_most` leaves of it.
  void write(const std::string& name, std::string_view text, mode_t at_most = 07777) const;
  // Makes the file unless anything of this name is there: false then.
  bool write_new(const std::string& name, std::string_view text) const;
  // A directory in it that belongs to the same user; made if it is missing.
  Folder folder(const std::string& name) const;

  bool has(const std::string& name) const;  // anything, a dangling link included
  std::vector<std::string> names() const;
  // Moves a file or directory, replacing a file in `to`.
  void rename(const std::string& name, const Folder& to, const std::string& new_name) const;
  // A file or link, or a directory with all that is in it, without leaving it through links. False if it is
  // still there.
  bool remove(const std::string& name) const noexcept;
  // Removes what NewFiles of this name left that were killed. Those that another process writes stay.
  void remove_abandoned(const std::string& name) const noexcept;
  // Gives the folder and a regular file in it the modes of shared_with(). Throws nothing: what is another
  // user's stays as it is.
  void share_with_others() const noexcept;
  void share_file(const std::string& name) const noexcept;

 private:
  friend class NewFile;
  Folder(std::filesystem::path path, int descriptor, bool is_new);
  void require_own() const;
  int create(const std::string& name, mode_t at_most) const;  // -1 and errno
  [[noreturn]] void fail(const std::string& name, int error) const;

  std::filesystem::path path_;
  int descriptor_;
  bool is_new_;
};

// A file that has no name that others know until keep(): removed otherwise.
class NewFile {
 public:
  // `mode`: before the umask, for files that the user named; 0: shared_file_mode().
  NewFile(Folder folder, std::string name, mode_t mode = 0);
  // Beside `file`, which keep() replaces.
  static NewFile beside(const std::filesystem::path& file, FolderOwner owner, mode_t mode = 0);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  int descriptor() const { return descriptor_; }  // the NewFile's
  void write(std::string_view text) const;        // at the descriptor's position
  void give_name();                               // it stays open
  void keep();                                    // the same, and closes it

 private:
  Folder folder_;
  std::string name_, temporary_;  // temporary_ is empty: kept
  int descriptor_;
};

// The same for one file by its path.
int open_own_file(const std::filesystem::path& file, int flags);
void write_own_file(const std::filesystem::path& file, std::string_view text, mode_t at_most = 07777);
// Nothing is thrown: false if it is still there.
bool remove_own(const std::filesystem::path& path) noexcept;

// "bob (1000)", or the number alone.
std::string name_of_user(uid_t user);

}  // namespace prof
