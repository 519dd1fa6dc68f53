//===- ExportsTest.cpp - what libgfx950emu-hip.so exports -------------------===//
//
// Nothing but HIP functions may be visible: the library is loaded beside other
// libraries with the same LLVM inside.
//
//===------------------------------------------------------------------------===//

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Object/ObjectFile.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

std::set<std::string> exportedSymbols() {
  std::set<std::string> names;
  auto file = llvm::object::ObjectFile::createObjectFile(HIP_LIBRARY);
  if (!file) {
    ADD_FAILURE() << toString(file.takeError());
    return names;
  }
  auto *elf = llvm::cast<llvm::object::ELFObjectFileBase>(file->getBinary());
  for (const llvm::object::ELFSymbolRef &symbol : elf->getDynamicSymbolIterators()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (!flags || !name) {
      ADD_FAILURE() << "unreadable symbol";
      llvm::consumeError(flags.takeError());
      llvm::consumeError(name.takeError());
      return names;
    }
    if (!(*flags &
          (llvm::object::SymbolRef::SF_Undefined | llvm::object::SymbolRef::SF_FormatSpecific)))
      names.insert(name->str());
  }
  return names;
}

TEST(Exports, OnlyHipFunctions) {
  for (const std::string &name : exportedSymbols())
    EXPECT_TRUE(name.starts_with("hip") || name == "gfx950emu_last_fault") << name;
}

// Everything that the documentation of the library promises.
TEST(Exports, Complete) {
  std::set<std::string> exported = exportedSymbols();
  for (const char *name : {"hipInit",
                           "hipDriverGetVersion",
                           "hipRuntimeGetVersion",
                           "hipGetDeviceCount",
                           "hipSetDevice",
                           "hipGetDevice",
                           "hipDeviceGet",
                           "hipDeviceGetName",
                           "hipDeviceGetAttribute",
                           "hipDeviceTotalMem",
                           "hipDeviceComputeCapability",
                           "hipDeviceGetPCIBusId",
                           "hipGetDeviceProperties",
                           "hipGetDevicePropertiesR0600",
                           "hipDeviceSynchronize",
                           "hipDeviceCanAccessPeer",
                           "hipDeviceEnablePeerAccess",
                           "hipDeviceDisablePeerAccess",
                           "hipGetLastError",
                           "hipPeekAtLastError",
                           "hipGetErrorName",
                           "hipGetErrorString",
                           "hipMalloc",
                           "hipFree",
                           "hipHostMalloc",
                           "hipHostFree",
                           "hipHostGetDevicePointer",
                           "hipMemGetInfo",
                           "hipMemGetAddressRange",
                           "hipPointerGetAttributes",
                           "hipMemcpy",
                           "hipMemcpyAsync",
                           "hipMemcpyHtoD",
                           "hipMemcpyDtoH",
                           "hipMemcpyDtoD",
                           "hipMemcpyHtoDAsync",
                           "hipMemcpyDtoHAsync",
                           "hipMemcpyDtoDAsync",
                           "hipMemset",
                           "hipMemsetAsync",
                           "hipMemsetD8",
                           "hipMemsetD8Async",
                           "hipMemsetD16",
                           "hipMemsetD16Async",
                           "hipMemsetD32",
                           "hipMemsetD32Async",
                           "hipStreamCreate",
                           "hipStreamCreateWithFlags",
                           "hipStreamCreateWithPriority",
                           "hipStreamDestroy",
                           "hipStreamSynchronize",
                           "hipStreamQuery",
                           "hipStreamWaitEvent",
                           "hipStreamGetFlags",
                           "hipStreamGetPriority",
                           "hipDeviceGetStreamPriorityRange",
                           "hipEventCreate",
                           "hipEventCreateWithFlags",
                           "hipEventRecord",
                           "hipEventSynchronize",
                           "hipEventQuery",
                           "hipEventElapsedTime",
                           "hipEventDestroy",
                           "hipModuleLoad",
                           "hipModuleLoadData",
                           "hipModuleLoadDataEx",
                           "hipModuleUnload",
                           "hipModuleGetFunction",
                           "hipFuncGetAttribute",
                           "hipFuncGetAttributes",
                           "hipModuleLaunchKernel",
                           "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor",
                           "hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
                           "hipStreamBeginCapture",
                           "hipStreamEndCapture",
                           "hipStreamIsCapturing",
                           "hipStreamGetCaptureInfo",
                           "hipThreadExchangeStreamCaptureMode",
                           "hipGraphCreate",
                           "hipGraphInstantiate",
                           "hipGraphInstantiateWithFlags",
                           "hipGraphLaunch",
                           "hipGraphExecDestroy",
                           "hipGraphDestroy",
                           "hipGraphGetNodes",
                           "hipGraphNodeGetType",
                           "gfx950emu_last_fault"}) {
    EXPECT_TRUE(exported.erase(name)) << name;
  }
  EXPECT_TRUE(exported.empty()) << *exported.begin() << " is exported but not listed";
}

} // namespace
