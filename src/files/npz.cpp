#include "src/files/npz.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "src/files/host_file.h"
#include "src/files/inflated.h"
#include "src/files/npy.h"
#include "src/files/zip_library.h"

namespace gpulua {

namespace {

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;

/// A libzip error that belongs to no archive.
class ZipError {
 public:
  explicit ZipError(const ZipLibrary& zip) : zip_(zip) { zip_.error_init(&error_); }
  ~ZipError() { zip_.error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;

  zip_error_t* get() { return &error_; }
  std::string text() { return zip_.error_strerror(&error_); }

 private:
  const ZipLibrary& zip_;
  zip_error_t error_;
};

// ---- reading
// -----------------------------------------------------------------------------------------------------------

constexpr std::string_view suffix = ".npy";

/// A member of the archive that is being read. `size_` is the size in the archive's directory.
class Member {
 public:
  /// `left`: the bytes of the file that are not part of an earlier member.
  Member(const ZipLibrary& zip, zip_t* archive, const zip_stat_t& member, std::size_t& left, const std::string& file)
      : zip_(zip), file_(file), size_(member.size), open_(nullptr, zip.fclose) {
    const bool stored = member.comp_method == ZIP_CM_STORE;
    if (!stored && member.comp_method != ZIP_CM_DEFLATE)
      fail("expected members that are stored or deflated, got method " + std::to_string(member.comp_method));
    if (member.comp_size > left || (stored && member.size != member.comp_size) ||
        member.size > most_inflated(member.comp_size))
      fail("the archive is damaged: it cannot hold the " + std::to_string(member.size) + " bytes that it promises");
    left -= member.comp_size;
    open_.reset(zip.fopen_index(archive, member.index, 0));
    if (!open_) fail(zip.strerror(archive));
  }

  std::size_t size() const { return size_; }

  void read(std::span<char> to) {
    while (!to.empty()) {
      const zip_int64_t count = zip_.fread(open_.get(), to.data(), to.size());
      if (count < 0) fail(zip_.file_strerror(open_.get()));
      if (count == 0) fail("the archive is damaged: a member is shorter than it promises");
      to = to.subspan(static_cast<std::size_t>(count));
      done_ += static_cast<std::size_t>(count);
    }
  }

  /// Reads the remaining bytes. The read that reaches the end also verifies the checksum.
  void finish() {
    std::vector<char> rest(std::min<std::size_t>(size_ - done_, 1 << 16));
    while (done_ < size_) read({rest.data(), std::min(rest.size(), size_ - done_)});
    char beyond = 0;
    const zip_int64_t count = zip_.fread(open_.get(), &beyond, sizeof beyond);
    if (count < 0) fail(zip_.file_strerror(open_.get()));
    if (count > 0) fail("the archive is damaged: a member is longer than it promises");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error("[load] {}: {}", file_, what); }

  const ZipLibrary& zip_;
  const std::string& file_;
  std::size_t size_, done_ = 0;
  std::unique_ptr<zip_file_t, decltype(&zip_fclose)> open_;
};

/// Reads one array. The header gives the size of the elements; their memory is allocated on the device first, which has
/// a limit, and then on the host.
FileArray read_array(Member& member, OpenDevice& device, const std::string& file) {
  std::vector<char> head(std::min(member.size(), longest_npy_header));
  member.read(head);
  const NpyArray array(head, member.size(), device, file);
  const std::size_t bytes = array.nbytes();
  const auto elements = std::make_unique_for_overwrite<char[]>(bytes);
  const std::size_t here = std::min(head.size() - array.begin(), bytes);
  std::memcpy(elements.get(), head.data() + array.begin(), here);
  member.read({elements.get() + here, bytes - here});
  member.finish();
  return array.fill({elements.get(), bytes});
}

// ---- writing
// -----------------------------------------------------------------------------------------------------------

/// The source from which libzip reads a new member. The elements are copied from the device when libzip opens the
/// source, and freed when libzip closes it.
class MemberSource {
 public:
  MemberSource(const NamedArray& named, std::exception_ptr& failure)
      : array_(named.array), header_(npy_header(array_->dtype, array_->layout.shape, named.dates)), failure_(failure) {}

  static zip_int64_t call(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
    return static_cast<MemberSource*>(self)->handle(data, length, command);
  }

 private:
  zip_int64_t handle(void* data, zip_uint64_t length, zip_source_cmd_t command) {
    switch (command) {
      case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_READABLE;
      case ZIP_SOURCE_STAT: {
        auto* status = static_cast<zip_stat_t*>(data);
        *status = {};
        status->size = header_.size() + array_->nbytes();
        status->valid = ZIP_STAT_SIZE;
        return sizeof *status;
      }
      case ZIP_SOURCE_OPEN:
        return open() ? 0 : -1;
      case ZIP_SOURCE_READ:
        return read(static_cast<char*>(data), length);
      case ZIP_SOURCE_CLOSE:
        elements_.reset();
        return 0;
      case ZIP_SOURCE_ERROR: {
        const int codes[] = {ZIP_ER_INTERNAL, 0};
        std::memcpy(data, codes, sizeof codes);
        return sizeof codes;
      }
      case ZIP_SOURCE_FREE:
        return 0;
      default:
        return -1;
    }
  }

  /// An exception must not cross libzip, which is C: failure_ holds it until libzip has returned.
  bool open() {
    at_ = 0;
    try {
      elements_.emplace(*array_);
      return true;
    } catch (...) {
      failure_ = std::current_exception();
      return false;
    }
  }

  zip_int64_t read(char* to, std::size_t length) {
    const bool in_header = at_ < header_.size();
    const std::span<const char> part =
        in_header ? std::span<const char>(header_).subspan(at_) : elements_->bytes().subspan(at_ - header_.size());
    const std::size_t count = std::min(length, part.size());
    std::memcpy(to, part.data(), count);
    at_ += count;
    return static_cast<zip_int64_t>(count);
  }

  Array array_;
  std::string header_;
  std::exception_ptr& failure_;
  std::optional<HostElements> elements_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_npz(std::span<const char> bytes) {
  const std::string_view first = std::string_view(bytes.data(), bytes.size()).substr(0, 4);
  return first == "PK\3\4" || first == "PK\5\6";
}

NamedArrays read_npz(std::span<const char> bytes, OpenDevice& device, const std::string& file) {
  const ZipLibrary zip;
  ZipError error(zip);
  zip_source_t* source = zip.source_buffer_create(bytes.data(), bytes.size(), 0, error.get());
  if (!source) throw Error("[load] {}: {}", file, error.text());
  const Archive archive(zip.open_from_source(source, ZIP_RDONLY, error.get()), zip.discard);
  if (!archive) {
    zip.source_free(source);
    throw Error("[load] {}: {}", file, error.text());
  }

  NamedArrays arrays;
  std::set<std::string> names;
  std::size_t left = bytes.size();
  const zip_int64_t count = zip.get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t member;
    constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    if (zip.stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &member) != 0 ||
        (member.valid & needed) != needed)
      throw Error("[load] {}: {}", file, zip.strerror(archive.get()));
    const std::string name = member.name, where = file + " (" + name + ")";
    if (!name.ends_with(suffix))
      throw Error("[load] {}: expected members whose names end in .npy{}", where,
                  name == "[Content_Types].xml" ? "; of a spreadsheet, save a .csv file" : "");
    if (!names.insert(name).second) throw Error("[load] {}: expected members of different names, got two", where);
    Member open(zip, archive.get(), member, left, where);
    FileArray read = read_array(open, device, where);
    arrays.push_back({name.substr(0, name.size() - suffix.size()), std::move(read.array), read.dates});
  }
  return arrays;
}

void save_npz(const std::string& path, const NamedArrays& arrays, bool compress) {
  std::exception_ptr failure;
  std::vector<std::unique_ptr<MemberSource>> members;
  for (const NamedArray& array : arrays) members.push_back(std::make_unique<MemberSource>(array, failure));

  const ZipLibrary zip;
  NewFile file("save", path);
  int code = 0;
  Archive archive(zip.open(file.beside().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code), zip.discard);
  if (!archive) {
    ZipError error(zip);
    zip.error_init_with_code(error.get(), code);
    throw Error(ErrorKind::file, "[save] cannot write {}: {}", path, error.text());
  }
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const std::string name = arrays[i].name + std::string(suffix);
    zip_source_t* source = zip.source_function(archive.get(), &MemberSource::call, members[i].get());
    const zip_int64_t index =
        source ? zip.file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8) : zip_int64_t{-1};
    if (index < 0) {
      zip.source_free(source);
      throw Error("[save] cannot name an array \"{}\": {}", arrays[i].name, zip.strerror(archive.get()));
    }
    const auto number = static_cast<zip_uint64_t>(index);
    zip.set_file_compression(archive.get(), number, compress ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    // The time is always the earliest of the format, so that equal arrays give equal files.
    constexpr zip_uint16_t first_day = 1 << 5 | 1;
    zip.file_set_dostime(archive.get(), number, 0, first_day, 0);
  }
  if (zip.close(archive.get()) != 0) {
    if (failure) std::rethrow_exception(failure);
    throw Error(ErrorKind::file, "[save] cannot write {}: {}", path, zip.strerror(archive.get()));
  }
  static_cast<void>(archive.release());  // zip_close() has freed it
  file.commit();
}

}  // namespace gpulua
