//===- BundleFolder.cpp - a bundle in files of one kernel each --------------===//
//
// For stacks that keep code objects of their own: the parts of one bundle, put
// together to what the whole was.
//
//===------------------------------------------------------------------------===//
#include "runtime/bundle/Bundle.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <set>

namespace nvfp4rt {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> filesOf(const std::string &folder) {
  std::vector<std::string> paths;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code))
    if (it->path().extension() == ".hsaco")
      paths.push_back(it->path().string());
  if (code)
    return fail(NVFP4RT_ERROR_IO, fmt::format("bundle {}: expected a readable folder, found: {}",
                                              folder, code.message()));
  if (paths.empty())
    return fail(NVFP4RT_ERROR_IO,
                fmt::format("bundle {}: expected *.hsaco files, found none", folder));
  std::ranges::sort(paths);
  return paths;
}

} // namespace

Result<Bundle> Bundle::openFolder(const std::string &path) {
  const Result<std::vector<std::string>> files = filesOf(path);
  if (!files)
    return tl::unexpected(files.error());
  Bundle whole;
  whole.name_ = path;
  std::map<std::string, std::string> fileOf; // of each kernel
  std::map<std::string, size_t> partOf;
  for (const std::string &file : *files) {
    Result<Bundle> part = openFile(file);
    if (!part)
      return part;
    Manifest &manifest = part->manifest_;
    if (whole.parts_.empty()) {
      whole.manifest_ = manifest;
      whole.manifest_.kernels.clear();
      whole.manifest_.variants.clear();
    }
    if (manifest.buildId != whole.manifest_.buildId)
      return fail(NVFP4RT_ERROR_BAD_MANIFEST,
                  fmt::format("bundle {}: build id of {}: expected {} as in {}, found {}", path,
                              file, whole.manifest_.buildId, files->front(), manifest.buildId));
    for (Kernel &kernel : manifest.kernels) {
      const auto [other, isNew] = fileOf.emplace(kernel.symbol, file);
      if (!isNew)
        return fail(NVFP4RT_ERROR_BAD_MANIFEST,
                    fmt::format("bundle {}: kernel {}: expected it in one file, found it in {} and "
                                "in {}",
                                path, kernel.symbol, other->second, file));
      partOf[kernel.symbol] = whole.parts_.size();
      whole.manifest_.kernels.push_back(std::move(kernel));
    }
    std::ranges::move(manifest.variants, std::back_inserter(whole.manifest_.variants));
    whole.parts_.push_back(std::move(part->bytes_));
  }
  std::ranges::sort(whole.manifest_.kernels, {}, &Kernel::symbol);
  for (const Kernel &kernel : whole.manifest_.kernels)
    whole.partOf_.push_back(partOf[kernel.symbol]);
  std::set<std::string_view> names;
  for (const Variant &variant : whole.manifest_.variants)
    if (!names.insert(variant.name).second)
      return fail(NVFP4RT_ERROR_BAD_MANIFEST,
                  fmt::format("bundle {}: variant {}: expected it once, found it in two files",
                              path, variant.name));
  return whole;
}

Result<Bundle> Bundle::openPath(const std::string &path) {
  std::error_code ignored; // what is no folder is a file, or an error of openFile()
  return fs::is_directory(path, ignored) ? openFolder(path) : openFile(path);
}

} // namespace nvfp4rt
