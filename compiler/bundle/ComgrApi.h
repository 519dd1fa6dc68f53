//===- ComgrApi.h - what we use of comgr's C interface ----------------------===//
//
// Declared here so that building needs no ROCm; a test compares it with the
// header where there is one. The numbers of actions changed between the major
// versions 2 and 3, nothing else that is used.
//
//===------------------------------------------------------------------------===//
#ifndef NVFP4GEN_COMPILER_BUNDLE_COMGRAPI_H
#define NVFP4GEN_COMPILER_BUNDLE_COMGRAPI_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvfp4gen {

struct ComgrApi {
  using Status = int;
  /// Every object is a struct of one 64-bit handle, passed by value.
  struct Handle {
    uint64_t handle;
  };
  static constexpr Status kSuccess = 0;
  static constexpr int kLog = 5, kRelocatable = 7, kExecutable = 8; ///< kinds of data
  /// LINK_RELOCATABLE_TO_EXECUTABLE.
  static constexpr int linkAction(size_t major) { return major < 3 ? 9 : 7; }

#define NVFP4GEN_COMGR_FUNCTIONS(X)                                                                \
  X(get_version, void, (size_t *major, size_t *minor))                                             \
  X(status_string, Status, (Status status, const char **text))                                     \
  X(get_isa_count, Status, (size_t *count))                                                        \
  X(get_isa_name, Status, (size_t index, const char **name))                                       \
  X(create_data, Status, (int kind, Handle *data))                                                 \
  X(release_data, Status, (Handle data))                                                           \
  X(set_data, Status, (Handle data, size_t size, const char *bytes))                               \
  X(set_data_name, Status, (Handle data, const char *name))                                        \
  X(get_data, Status, (Handle data, size_t *size, char *bytes))                                    \
  X(create_data_set, Status, (Handle * set))                                                       \
  X(destroy_data_set, Status, (Handle set))                                                        \
  X(data_set_add, Status, (Handle set, Handle data))                                               \
  X(action_data_count, Status, (Handle set, int kind, size_t *count))                              \
  X(action_data_get_data, Status, (Handle set, int kind, size_t index, Handle *data))              \
  X(create_action_info, Status, (Handle * info))                                                   \
  X(destroy_action_info, Status, (Handle info))                                                    \
  X(action_info_set_isa_name, Status, (Handle info, const char *name))                             \
  X(action_info_set_logging, Status, (Handle info, bool on))                                       \
  X(do_action, Status, (int action, Handle info, Handle input, Handle result))                     \
  X(get_data_metadata, Status, (Handle data, Handle * node))                                       \
  X(destroy_metadata, Status, (Handle node))                                                       \
  X(metadata_lookup, Status, (Handle map, const char *key, Handle *value))                         \
  X(get_metadata_list_size, Status, (Handle list, size_t *size))                                   \
  X(index_list_metadata, Status, (Handle list, size_t index, Handle *value))                       \
  X(get_metadata_string, Status, (Handle node, size_t *size, char *text))

#define X(name, result, parameters) result(*name) parameters = nullptr;
  NVFP4GEN_COMGR_FUNCTIONS(X)
#undef X

  void *library = nullptr;
  std::string path;
  size_t major = 0, minor = 0;
};

} // namespace nvfp4gen

#endif // NVFP4GEN_COMPILER_BUNDLE_COMGRAPI_H
