//===- ComgrTest.cpp - ROCm's metadata reader reads a bundle ----------------===//

#include "runtime/args/ArgLayout.h"
#include "runtime/bundle/Bundle.h"

#include <amd_comgr.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace {

/// A metadata node with its life time.
class Node {
public:
  Node() = default;
  explicit Node(amd_comgr_metadata_node_t node) : node(node), owned(true) {}
  Node(Node &&other) noexcept : node(other.node), owned(std::exchange(other.owned, false)) {}
  Node &operator=(Node &&) = delete;
  ~Node() {
    if (owned)
      amd_comgr_destroy_metadata(node);
  }
  Node operator[](const char *key) const {
    amd_comgr_metadata_node_t value;
    if (amd_comgr_metadata_lookup(node, key, &value) != AMD_COMGR_STATUS_SUCCESS) {
      ADD_FAILURE() << "no metadata key " << key;
      return {};
    }
    return Node(value);
  }
  Node operator[](size_t index) const {
    amd_comgr_metadata_node_t value;
    EXPECT_EQ(amd_comgr_index_list_metadata(node, index, &value), AMD_COMGR_STATUS_SUCCESS);
    return Node(value);
  }
  size_t size() const {
    size_t size = 0;
    EXPECT_EQ(amd_comgr_get_metadata_list_size(node, &size), AMD_COMGR_STATUS_SUCCESS);
    return size;
  }
  std::string text() const {
    size_t size = 0;
    EXPECT_EQ(amd_comgr_get_metadata_string(node, &size, nullptr), AMD_COMGR_STATUS_SUCCESS);
    std::string text(size, '\0');
    EXPECT_EQ(amd_comgr_get_metadata_string(node, &size, text.data()), AMD_COMGR_STATUS_SUCCESS);
    text.resize(size - 1); // comgr counts the terminating NUL
    return text;
  }

private:
  amd_comgr_metadata_node_t node{};
  bool owned = false;
};

class Comgr : public testing::TestWithParam<const char *> {};

TEST_P(Comgr, FindsEveryKernelAndItsArguments) {
  std::string path = std::string(BUNDLE_DIR) + "/" + GetParam() + ".hsaco";
  auto bundle = nvfp4rt::Bundle::openFile(path);
  ASSERT_TRUE(bundle) << bundle.error().message;

  amd_comgr_data_t data;
  ASSERT_EQ(amd_comgr_create_data(AMD_COMGR_DATA_KIND_EXECUTABLE, &data), AMD_COMGR_STATUS_SUCCESS);
  ASSERT_EQ(amd_comgr_set_data(data, bundle->bytes().size(),
                               reinterpret_cast<const char *>(bundle->bytes().data())),
            AMD_COMGR_STATUS_SUCCESS);
  amd_comgr_metadata_node_t root;
  ASSERT_EQ(amd_comgr_get_data_metadata(data, &root), AMD_COMGR_STATUS_SUCCESS);
  Node metadata(root);
  EXPECT_EQ(metadata["amdhsa.target"].text(), "amdgcn-amd-amdhsa--gfx950");

  Node kernels = metadata["amdhsa.kernels"];
  ASSERT_EQ(kernels.size(), bundle->manifest().kernels.size());
  std::set<std::string> seen;
  for (size_t i = 0; i < kernels.size(); ++i) {
    Node kernel = kernels[i];
    std::string name = kernel[".name"].text();
    seen.insert(name);
    const nvfp4rt::Kernel &expected = bundle->manifest().kernels[bundle->kernelIndex(name)];
    EXPECT_EQ(kernel[".symbol"].text(), name + ".kd");
    EXPECT_EQ(kernel[".kernarg_segment_size"].text(), std::to_string(expected.argsSize));
    EXPECT_EQ(kernel[".vgpr_count"].text(), std::to_string(expected.resources.vgprs));
    EXPECT_EQ(kernel[".wavefront_size"].text(), "64");

    const nvfp4rt::ArgLayout &layout = *nvfp4rt::argLayout(expected.family);
    Node args = kernel[".args"];
    ASSERT_EQ(args.size(), layout.fields.size());
    for (size_t a = 0; a < args.size(); ++a) {
      const nvfp4rt::ArgField &field = layout.fields[a];
      Node arg = args[a];
      EXPECT_EQ(arg[".offset"].text(), std::to_string(field.offset)) << field.name;
      EXPECT_EQ(arg[".size"].text(), std::to_string(nvfp4rt::argTypeSize(field.type)))
          << field.name;
      EXPECT_EQ(arg[".value_kind"].text(),
                field.type == nvfp4rt::ArgType::Pointer ? "global_buffer" : "by_value")
          << field.name;
    }
  }
  EXPECT_EQ(seen.size(), kernels.size());
  amd_comgr_release_data(data);
}

INSTANTIATE_TEST_SUITE_P(Bundles, Comgr, testing::Values("tiny", "minimax_m3_1_tp4_bf16"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
