#pragma once
// Creates, replaces, renames and removes files. Everything that prof writes goes through here, because other
// users may have planted links, pipes or directories where it writes, and root runs prof as well.
//
// A Folder is a descriptor of a directory. It is rejected if it belongs to another user, or if the path leads
// through a symbolic link that another user could have planted. Names in it are resolved relative to the
// descriptor and never through a link: a file is created under a random name (O_EXCL) and renamed. Errors are
// WriteErrors. Objects must not be shared between threads; the functions may be called from any thread.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace prof {

// The users besides its own that may read what prof writes. The umask does not widen it.
enum class SharedWith : uint8_t { Nobody, Group, World };

// Applies to the whole process. Must be called before the first file is written. The default is Nobody.
void set_shared_with(SharedWith with);
SharedWith shared_with();
mode_t shared_file_mode();    // 0600, 0640, 0644
mode_t shared_folder_mode();  // 0700, 0750, 0755

// what() is one line: the path, the cause, and how to fix it.
class WriteError : public std::runtime_error {
 public:
  WriteError(const std::string& line, int error)
      : std::runtime_error(line), code_(error, std::generic_category()) {}
  const std::error_code& code() const { return code_; }

 private:
  std::error_code code_;
};

enum class FolderOwner : uint8_t {
  Own,  // it must belong to the user whose file access rights this thread has
  Any,  // for a file that the user named, such as `-o FILE`
};

class Folder {
 public:
  // Opens an existing directory. Throws WriteError.
  explicit Folder(const std::filesystem::path& path, FolderOwner owner = FolderOwner::Own);
  // Creates the directory, and missing ones above it, with shared_folder_mode(). An existing one must belong
  // to the user, and keeps its mode.
  static Folder make(const std::filesystem::path& path);
  // Returns the directory that contains `path`, which may belong to another user. Creates it, and those above
  // it, if missing.
  static Folder above(const std::filesystem::path& path);
  Folder(Folder&& other) noexcept;
  Folder& operator=(Folder&&) = delete;
  ~Folder();

  const std::filesystem::path& path() const { return path_; }  // as given, for messages
  int descriptor() const { return descriptor_; }               // O_PATH; owned by the Folder
  bool is_new() const { return is_new_; }                      // make() created it
  uid_t owner() const;

  // Opens a regular file of the folder's user with `flags` of open(2), including O_CREAT. Never follows a
  // link. The caller closes it.
  int open(const std::string& name, int flags) const;
  // Replaces the file in one step. Its mode is shared_file_mode(), restricted to `at_most`.
  void write(const std::string& name, std::string_view text, mode_t at_most = 07777) const;
  // Creates the file. Returns false if anything of this name exists.
  bool write_new(const std::string& name, std::string_view text) const;
  // Returns a subdirectory that belongs to the same user; creates it if it is missing.
  Folder folder(const std::string& name) const;

  bool has(const std::string& name) const;  // anything, including a dangling link
  std::vector<std::string> names() const;
  // Moves a file or directory, replacing a file in `to`.
  void rename(const std::string& name, const Folder& to, const std::string& new_name) const;
  // Removes a file or link, or a directory with its contents, without leaving it through links. Returns false
  // if it still exists.
  bool remove(const std::string& name) const noexcept;
  // Removes what killed NewFiles of this name left. Keeps those that another process is writing.
  void remove_abandoned(const std::string& name) const noexcept;
  // Give the folder, and a regular file in it, the modes of shared_with(). Never throw; what belongs to
  // another user stays unchanged.
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

// A file that gets its public name with keep(), and is removed otherwise.
class NewFile {
 public:
  // `mode`: before the umask, for files that the user named; 0: shared_file_mode().
  NewFile(Folder folder, std::string name, mode_t mode = 0);
  // Creates it next to `file`, which keep() replaces.
  static NewFile beside(const std::filesystem::path& file, FolderOwner owner, mode_t mode = 0);
  NewFile(NewFile&& other) noexcept;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  int descriptor() const { return descriptor_; }  // owned by the NewFile
  void write(std::string_view text) const;        // at the descriptor's position
  void give_name();                               // it stays open
  void keep();                                    // gives the name and closes the file

 private:
  Folder folder_;
  std::string name_, temporary_;  // temporary_ is empty once it is kept
  int descriptor_;
};

// The same for one file by its path.
int open_own_file(const std::filesystem::path& file, int flags);
void write_own_file(const std::filesystem::path& file, std::string_view text, mode_t at_most = 07777);
// Never throws. Returns false if it still exists.
bool remove_own(const std::filesystem::path& path) noexcept;

// Returns "bob (1000)", or the number alone.
std::string name_of_user(uid_t user);

}  // namespace prof
