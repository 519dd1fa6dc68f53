//===- Comgr.cpp ------------------------------------------------------------===//

#include "compiler/bundle/Comgr.h"

#include "compiler/bundle/ComgrApi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

#include <cstdlib>
#include <dlfcn.h>

namespace nvfp4gen {

namespace {

using Handle = ComgrApi::Handle;

llvm::Error comgrError(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "comgr: " + what);
}

llvm::Error check(const ComgrApi &api, ComgrApi::Status status, const char *call) {
  if (status == ComgrApi::kSuccess)
    return llvm::Error::success();
  const char *text = "unknown status";
  api.status_string(status, &text);
  return comgrError(llvm::Twine("amd_comgr_") + call + ": expected success, found status " +
                    llvm::Twine(status) + " (" + text + ")");
}

/// An object of comgr with its life time.
class Owned {
public:
  using Destroy = ComgrApi::Status (*)(Handle);
  explicit Owned(Destroy destroy) : destroy(destroy) {}
  Owned(const Owned &) = delete;
  ~Owned() {
    if (made)
      destroy(handle);
  }
  /// The place for a call to put the handle; `status` is that of the call.
  Handle handle{};
  bool made = false;

private:
  Destroy destroy;
};

/// Run a call that makes an object.
template <typename Call>
llvm::Error make(const ComgrApi &api, Owned &object, const char *name, Call call) {
  llvm::Error error = check(api, call(&object.handle), name);
  object.made = !error;
  return error;
}

llvm::Error makeData(const ComgrApi &api, Owned &data, int kind, llvm::StringRef bytes,
                     const char *name) {
  if (llvm::Error error = make(api, data, "create_data",
                               [&](Handle *handle) { return api.create_data(kind, handle); }))
    return error;
  if (llvm::Error error =
          check(api, api.set_data(data.handle, bytes.size(), bytes.data()), "set_data"))
    return error;
  return check(api, api.set_data_name(data.handle, name), "set_data_name");
}

/// The first object of `kind` in a set; empty when it has none.
llvm::Expected<std::string> readData(const ComgrApi &api, Handle set, int kind) {
  size_t count = 0;
  if (llvm::Error error = check(api, api.action_data_count(set, kind, &count), "action_data_count"))
    return std::move(error);
  if (count == 0)
    return std::string();
  Owned data(api.release_data);
  if (llvm::Error error = make(api, data, "action_data_get_data", [&](Handle *handle) {
        return api.action_data_get_data(set, kind, 0, handle);
      }))
    return std::move(error);
  size_t size = 0;
  if (llvm::Error error = check(api, api.get_data(data.handle, &size, nullptr), "get_data"))
    return std::move(error);
  std::string bytes(size, '\0');
  if (llvm::Error error = check(api, api.get_data(data.handle, &size, bytes.data()), "get_data"))
    return std::move(error);
  return bytes;
}

std::string isaOf(llvm::StringRef arch) { return ("amdgcn-amd-amdhsa--" + arch).str(); }

llvm::Expected<std::string> metadataText(const ComgrApi &api, Handle node) {
  size_t size = 0;
  if (llvm::Error error =
          check(api, api.get_metadata_string(node, &size, nullptr), "get_metadata_string"))
    return std::move(error);
  std::string text(size, '\0');
  if (llvm::Error error =
          check(api, api.get_metadata_string(node, &size, text.data()), "get_metadata_string"))
    return std::move(error);
  text.resize(size ? size - 1 : 0); // comgr counts the terminating NUL
  return text;
}

} // namespace

Comgr::Comgr(std::unique_ptr<ComgrApi> api) : api(std::move(api)) {}
Comgr::Comgr(Comgr &&) noexcept = default;
/// The library stays: it has an LLVM of its own, whose destructors run at exit.
Comgr::~Comgr() = default;

llvm::Expected<Comgr> Comgr::load() {
  std::vector<std::string> candidates = {"libamd_comgr.so.3", "libamd_comgr.so.2"};
  if (const char *named = std::getenv("NVFP4GEN_COMGR_LIBRARY"); named && *named)
    candidates = {named};
  auto api = std::make_unique<ComgrApi>();
  std::string tried;
  for (const std::string &candidate : candidates) {
    // Local: it brings an LLVM of its own.
    api->library = ::dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (api->library) {
      api->path = candidate;
      break;
    }
    const char *reason = ::dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(reason ? reason : candidate);
  }
  if (!api->library)
    return comgrError("expected ROCm's comgr library, found none (" + tried +
                      "); install it, name it in NVFP4GEN_COMGR_LIBRARY, or use --backend=lld");
  std::string missing;
  auto bind = [&](auto &function, const char *name) {
    void *symbol = ::dlsym(api->library, name);
    if (!symbol)
      missing += (missing.empty() ? "" : ", ") + std::string(name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
  };
#define X(name, result, parameters) bind(api->name, "amd_comgr_" #name);
  NVFP4GEN_COMGR_FUNCTIONS(X)
#undef X
  if (!missing.empty())
    return comgrError(api->path + " lacks " + missing);
  api->get_version(&api->major, &api->minor);
  return Comgr(std::move(api));
}

std::string Comgr::description() const {
  return "comgr " + std::to_string(api->major) + "." + std::to_string(api->minor) + " (" +
         api->path + ")";
}

llvm::Error Comgr::checkArch(llvm::StringRef arch) const {
  const std::string isa = isaOf(arch);
  size_t count = 0;
  if (llvm::Error error = check(*api, api->get_isa_count(&count), "get_isa_count"))
    return error;
  for (size_t i = 0; i < count; ++i) {
    const char *name = nullptr;
    if (llvm::Error error = check(*api, api->get_isa_name(i, &name), "get_isa_name"))
      return error;
    if (isa == name)
      return llvm::Error::success();
  }
  return comgrError(description() + " does not know the ISA " + isa + "; use a ROCm that knows " +
                    arch +
                    ", or --backend=lld, which links the same "
                    "kernels without comgr");
}

llvm::Expected<std::string> Comgr::link(llvm::ArrayRef<std::string> objects,
                                        llvm::StringRef arch) const {
  if (llvm::Error error = checkArch(arch))
    return std::move(error);
  const std::string isa = isaOf(arch);

  Owned input(api->destroy_data_set), output(api->destroy_data_set), info(api->destroy_action_info);
  for (Owned *set : {&input, &output})
    if (llvm::Error error = make(*api, *set, "create_data_set", api->create_data_set))
      return std::move(error);
  for (auto [index, object] : llvm::enumerate(objects)) {
    Owned data(api->release_data); // the set keeps it
    std::string name = std::to_string(index) + ".o";
    if (llvm::Error error = makeData(*api, data, ComgrApi::kRelocatable, object, name.c_str()))
      return std::move(error);
    if (llvm::Error error =
            check(*api, api->data_set_add(input.handle, data.handle), "data_set_add"))
      return std::move(error);
  }
  if (llvm::Error error = make(*api, info, "create_action_info", api->create_action_info))
    return std::move(error);
  if (llvm::Error error = check(*api, api->action_info_set_isa_name(info.handle, isa.c_str()),
                                "action_info_set_isa_name"))
    return std::move(error);
  if (llvm::Error error =
          check(*api, api->action_info_set_logging(info.handle, true), "action_info_set_logging"))
    return std::move(error);
  if (llvm::Error error = check(*api,
                                api->do_action(ComgrApi::linkAction(api->major), info.handle,
                                               input.handle, output.handle),
                                "do_action")) {
    llvm::Expected<std::string> log = readData(*api, output.handle, ComgrApi::kLog);
    std::string text = llvm::toString(std::move(error));
    if (log && !log->empty())
      text += ": " + *log;
    llvm::consumeError(log.takeError());
    return llvm::createStringError(llvm::inconvertibleErrorCode(), text);
  }
  llvm::Expected<std::string> code = readData(*api, output.handle, ComgrApi::kExecutable);
  if (code && code->empty())
    return comgrError("linking succeeded and gave no code object");
  return code;
}

llvm::Expected<std::vector<std::string>> Comgr::kernelNames(llvm::StringRef codeObject) const {
  Owned data(api->release_data), root(api->destroy_metadata), kernels(api->destroy_metadata);
  if (llvm::Error error = makeData(*api, data, ComgrApi::kExecutable, codeObject, "bundle"))
    return std::move(error);
  if (llvm::Error error = make(*api, root, "get_data_metadata", [&](Handle *node) {
        return api->get_data_metadata(data.handle, node);
      }))
    return std::move(error);
  auto lookUp = [&](Owned &map, const char *key, Owned &value) {
    return make(*api, value, "metadata_lookup",
                [&](Handle *node) { return api->metadata_lookup(map.handle, key, node); });
  };
  if (llvm::Error error = lookUp(root, "amdhsa.kernels", kernels))
    return std::move(error);
  size_t count = 0;
  if (llvm::Error error = check(*api, api->get_metadata_list_size(kernels.handle, &count),
                                "get_metadata_list_size"))
    return std::move(error);
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) {
    Owned kernel(api->destroy_metadata), name(api->destroy_metadata);
    if (llvm::Error error = make(*api, kernel, "index_list_metadata", [&](Handle *node) {
          return api->index_list_metadata(kernels.handle, i, node);
        }))
      return std::move(error);
    if (llvm::Error error = lookUp(kernel, ".name", name))
      return std::move(error);
    llvm::Expected<std::string> text = metadataText(*api, name.handle);
    if (!text)
      return text.takeError();
    names.push_back(std::move(*text));
  }
  llvm::sort(names);
  return names;
}

} // namespace nvfp4gen
