// Arrays in .npy, .npz, .safetensors and HDF5 files. The C++ functions for files.lua.

#include "bindings/data/files.h"

#include <algorithm>
#include <map>

#include "bindings/arrays/lua_array.h"
#include "bindings/arrays/lua_device.h"
#include "bindings/data/data_parts.h"
#include "bindings/data/dates.h"
#include "bindings/lua/state.h"
#include "src/base/near_name.h"
#include "src/files/hdf5.h"
#include "src/files/host_file.h"
#include "src/files/npy.h"
#include "src/files/npz.h"
#include "src/files/safetensors.h"

namespace gpulua {

namespace {

bool check_boolean(lua_State* L, int index, const char* op, const char* what) {
  if (!lua_isboolean(L, index)) fail(op, what, L, index);
  return lua_toboolean(L, index) != 0;
}

/// The arrays of the table at `index`, for a file of the kind `ending`, sorted by name. The items of its list are named
/// arr_0, arr_1, ..., as in NumPy. `kinds`: the index of the kinds of those that are columns of dates, by the same
/// keys; 0: none is.
NamedArrays check_named_arrays(lua_State* L, int index, const char* ending, int kinds = 0) {
  constexpr const char* op = "save";
  if (describe(L, index) == "a table of columns")
    fail(op, std::string("arrays by name, {x = t.x}, for a ") + ending + " file; .csv takes a table of columns", L,
         index);
  if (!lua_istable(L, index)) fail(op, (std::string("a table of arrays for a ") + ending + " file").c_str(), L, index);
  const auto count = static_cast<double>(lua_objlen(L, index));
  NamedArrays arrays;
  lua_pushnil(L);
  while (lua_next(L, index) != 0) {
    std::string name;
    if (lua_type(L, -2) == LUA_TSTRING) {
      name = check_string(L, -2, op, "a name");
    } else {
      const double position = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : 0;
      if (!(position >= 1 && position <= count && position == static_cast<double>(static_cast<std::int64_t>(position))))
        fail(op, "names of arrays that are strings, or a list of arrays", L, -2);
      name = "arr_" + std::to_string(static_cast<std::int64_t>(position) - 1);
    }
    if (name.find('\0') != std::string::npos) fail(op, "a name without zero bytes", L, -2);
    const Array* array = test<Array>(L, -1);
    if (!array && lua_istable(L, -1) && lua_objlen(L, -1) == 0)
      throw Error(
          "[save] expected an array named \"{}\", got a table with names; a file has one level of names, such as "
          "[\"{}/x\"]",
          name, name);
    if (!array) fail(op, "an array named \"" + name + '"', L, -1);
    NamedArray named{std::move(name), *array};
    if (kinds != 0) {
      lua_pushvalue(L, -2);
      lua_rawget(L, kinds);
      if (lua_istable(L, -1)) named.dates = test_date_kind(L, lua_gettop(L));
      lua_pop(L, 1);
    }
    arrays.push_back(std::move(named));
    lua_pop(L, 1);
  }
  if (arrays.empty()) throw Error("[save] expected at least one array, got an empty table");
  std::sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twice =
      std::adjacent_find(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twice != arrays.end()) throw Error("[save] two arrays are called \"{}\"", twice->name);
  return arrays;
}

/// save_npy(path, x [, kind]): `kind` of a column of dates.
int save_array(lua_State* L) {
  constexpr const char* op = "save";
  if (lua_istable(L, 2)) fail(op, "an array for a .npy file, where a .npz file takes a table of arrays", L, 2);
  const auto dates = lua_istable(L, 3) ? test_date_kind(L, 3) : std::nullopt;
  save_npy(std::string(check_string(L, 1, op, "the path of a file")), *check<Array>(L, 2, op), dates);
  lua_pushboolean(L, 1);
  return 1;
}

/// save_npz(path, {name = x, ...}, {name = kind, ...}, {compress}): kinds of columns of dates.
int save_arrays(lua_State* L) {
  constexpr const char* op = "save";
  bool compress = false;
  read_options(L, 4, op,
               {{"compress", [&](int value) { compress = check_boolean(L, value, op, "a boolean for compress"); }}});
  save_npz(std::string(check_string(L, 1, op, "the path of a file")), check_named_arrays(L, 2, ".npz", 3), compress);
  lua_pushboolean(L, 1);
  return 1;
}

/// save_safetensors(path, {name = x, ...} [, {metadata=}])
int save_tensors(lua_State* L) {
  constexpr const char* op = "save";
  const std::string path(check_string(L, 1, op, "the path of a file"));
  std::map<std::string, std::string> metadata;
  read_options(L, 3, op, {{"metadata", [&](int value) {
                             if (!lua_istable(L, value)) fail(op, "metadata, a table of texts by name", L, value);
                             for (lua_pushnil(L); lua_next(L, value) != 0; lua_pop(L, 1)) {
                               if (lua_type(L, -2) != LUA_TSTRING) fail(op, "names of metadata", L, -2);
                               metadata.emplace(lua_tostring(L, -2), check_string(L, -1, op, "a text in metadata"));
                             }
                           }}});
  save_safetensors(path, check_named_arrays(L, 2, ".safetensors"), metadata);
  lua_pushboolean(L, 1);
  return 1;
}

/// save_hdf5(path, {name = x, ...})
int save_datasets(lua_State* L) {
  save_hdf5(std::string(check_string(L, 1, "save", "the path of a file")), check_named_arrays(L, 2, ".h5"));
  lua_pushboolean(L, 1);
  return 1;
}

/// __index of a file's table: throws the Error about a name that the file does not have.
int missing_array(lua_State* L) {
  constexpr std::size_t shown = 20;
  std::vector<std::string> names;
  for (lua_pushnil(L); lua_next(L, 1) != 0; lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING) names.emplace_back(lua_tostring(L, -2));
  std::sort(names.begin(), names.end());
  const std::string key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  NearName near(key);
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    near.offer(names[i]);
    if (i < shown) list += (i > 0 ? ", " : "") + names[i];
  }
  if (names.size() > shown) list += ", ... (" + std::to_string(names.size()) + " arrays)";
  throw Error("[load] expected a name of {}, which has {}, got {}{}", lua_tostring(L, lua_upvalueindex(2)),
              names.empty() ? "no arrays" : list, describe(L, 2), near.question());
}

/// Pushes the arrays of a file as a table by name, in which other names are errors. Returns 1.
int push_arrays(lua_State* L, NamedArrays arrays, const std::string& path) {
  lua_createtable(L, 0, static_cast<int>(arrays.size()));
  for (auto& [name, array, dates] : arrays) {
    lua_pushlstring(L, name.data(), name.size());
    push_array(L, std::move(array));
    lua_rawset(L, -3);
  }
  lua_newtable(L);
  lua_pushlightuserdata(L, &bindings_of(L));
  lua_pushstring(L, path.c_str());
  lua_pushcclosure(L, protect<missing_array>, 2);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
  return 1;
}

struct FileOptions {
  std::shared_ptr<OpenDevice> device;
  FileAccess access = FileAccess::map;
};

/// Reads {device=, mmap=} at `index`.
FileOptions check_file_options(lua_State* L, int index) {
  constexpr const char* op = "load";
  FileOptions options;
  const auto read_mmap = [&](int value) {
    options.access = check_boolean(L, value, op, "a boolean for mmap") ? FileAccess::map : FileAccess::read;
  };
  read_options(L, index, op,
               {{"device", [&](int value) { options.device = check_device(L, value, op); }}, {"mmap", read_mmap}});
  if (!options.device) options.device = bindings_of(L).context().current();
  return options;
}

/// load_safetensors(path [, {device=, mmap=}]): a table of arrays by name; nil and a message when the file cannot be
/// opened.
int load_tensors(lua_State* L) {
  const std::string path(check_string(L, 1, "load", "the path of a file"));
  const FileOptions options = check_file_options(L, 2);
  return or_file_failure(L, [&] {
    const FileBytes file("load", path, options.access);
    return push_arrays(L, read_safetensors(file.bytes(), *options.device, path), path);
  });
}

/// load_hdf5(path [, {name=, device=}]): the array called so, or a table of arrays by name; nil and a message when the
/// file cannot be opened.
int load_datasets(lua_State* L) {
  const std::string path(check_string(L, 1, "load", "the path of a file"));
  std::shared_ptr<OpenDevice> device = bindings_of(L).context().current();
  std::string name;
  read_options(L, 2, "load",
               {{"device", [&](int value) { device = check_device(L, value, "load"); }},
                {"name", [&](int value) { name = check_string(L, value, "load", "the name of a dataset"); }}});
  return or_file_failure(L, [&] {
    NamedArrays arrays = read_hdf5(path, name, *device);
    if (name.empty()) return push_arrays(L, std::move(arrays), path);
    push_array(L, std::move(arrays.front().array));
    return 1;
  });
}

/// Whether a file begins as text does: with signs, spaces and ends of lines alone.
bool is_text(std::span<const char> bytes) {
  return !bytes.empty() && std::ranges::all_of(bytes.first(std::min<std::size_t>(bytes.size(), 512)), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' || (c >= '\t' && c <= '\r');
  });
}

/// load_numpy(path [, {device=, mmap=}]): the array of a .npy file and its kind where it is a column of dates, or a
/// table of the arrays of a .npz file by name and one of their kinds; nil and a message when the file cannot be opened.
int load(lua_State* L) {
  constexpr const char* op = "load";
  const std::string path(check_string(L, 1, op, "the path of a file"));
  const FileOptions options = check_file_options(L, 2);
  return or_file_failure(L, [&] {
    const FileBytes file(op, path, options.access);
    if (is_npz(file.bytes())) {
      NamedArrays arrays = read_npz(file.bytes(), *options.device, path);
      lua_newtable(L);
      const int kinds = lua_gettop(L);
      for (const NamedArray& named : arrays) {
        if (!named.dates) continue;
        lua_pushlstring(L, named.name.data(), named.name.size());
        push_date_kind(L, *named.dates);
        lua_rawset(L, kinds);
      }
      push_arrays(L, std::move(arrays), path);
      lua_insert(L, kinds);
      return 2;
    }
    if (!is_npy(file.bytes()))
      throw Error(
          "[load] {}: expected a .npy or .npz file, got {}", path,
          is_text(file.bytes())
              ? "text; gpu.loadtxt reads an array of numbers in text, gpu.load a table by the ending .csv or .tsv"
              : "other data; gpu.image.load reads PNG files, and gpu.load other files by their endings, "
                ".csv among them");
    FileArray read = read_npy(file.bytes(), *options.device, path);
    push_array(L, std::move(read.array));
    if (!read.dates) return 1;
    push_date_kind(L, *read.dates);
    return 2;
  });
}

}  // namespace

void add_array_files(lua_State* L) {
  set_functions(L, {{"load_hdf5", protect<load_datasets>},
                    {"load_numpy", protect<load>},
                    {"load_safetensors", protect<load_tensors>},
                    {"save_hdf5", protect<save_datasets>},
                    {"save_npy", protect<save_array>},
                    {"save_npz", protect<save_arrays>},
                    {"save_safetensors", protect<save_tensors>}});
}

}  // namespace gpulua
