//===- Graph.cpp - graphs and their launch ----------------------------------===//

#include "tools/gfx950emu/hip/Api.h"
#include "tools/gfx950emu/hip/Capture.h"
#include "tools/gfx950emu/hip/Execute.h"

using namespace gfx950emu::hip;

namespace {

hipError_t instantiate(hipGraphExec_t *execOut, hipGraph_t graphHandle, unsigned long long flags) {
  return lockedCall([&](Runtime &runtime) {
    // AutoFreeOnLaunch says what to do with allocation nodes: captured graphs have none.
    if (!execOut || !graphHandle ||
        (flags != 0 && flags != hipGraphInstantiateFlagAutoFreeOnLaunch))
      return hipErrorInvalidValue;
    std::shared_ptr<Graph> graph = runtime.graphs.find(graphHandle);
    if (!graph)
      return hipErrorInvalidValue;
    auto exec = std::make_shared<GraphExec>();
    for (const auto &node : graph->nodes)
      exec->operations.push_back(node->operation);
    *execOut = runtime.graphExecs.insert(std::move(exec));
    return hipSuccess;
  });
}

hipGraphNodeType nodeType(const Operation &operation) {
  if (std::holds_alternative<KernelOp>(operation))
    return hipGraphNodeTypeKernel;
  return std::holds_alternative<CopyOp>(operation) ? hipGraphNodeTypeMemcpy
                                                   : hipGraphNodeTypeMemset;
}

} // namespace

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t graph, hipGraphNode_t *errorNode,
                               char *log, size_t logSize) {
  if (errorNode)
    *errorNode = nullptr;
  if (log && logSize != 0)
    *log = '\0';
  return instantiate(exec, graph, 0);
}

hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t *exec, hipGraph_t graph,
                                        unsigned long long flags) {
  return instantiate(exec, graph, flags);
}

hipError_t hipGraphLaunch(hipGraphExec_t handle, hipStream_t streamHandle) {
  return apiCall([&](Runtime &runtime) {
    std::shared_ptr<GraphExec> exec;
    std::shared_ptr<Stream> stream;
    std::vector<const Operation *> operations;
    {
      std::lock_guard lock(runtime.mutex);
      exec = runtime.graphExecs.find(handle);
      if (!exec)
        return hipErrorInvalidValue;
      stream = runtime.stream(streamHandle);
      if (!stream)
        return hipErrorContextIsDestroyed;
      // A graph within a graph would be a node of a kind that nothing here needs.
      if (Capture *capture = Runtime::activeCapture(*stream)) {
        capture->invalidated = true;
        return hipErrorStreamCaptureUnsupported;
      }
      for (const auto &operation : exec->operations) {
        auto *kernel = std::get_if<KernelOp>(operation.get());
        if (kernel && kernel->module->device != stream->device)
          return hipErrorInvalidDevice;
        operations.push_back(operation.get());
      }
    }
    return execute(runtime, *stream, operations);
  });
}

hipError_t hipGraphExecDestroy(hipGraphExec_t handle) {
  return apiCall([&](Runtime &runtime) {
    // Freed after the mutex is released: it may hold the last reference to an unloaded module.
    std::shared_ptr<GraphExec> exec;
    std::lock_guard lock(runtime.mutex);
    exec = runtime.graphExecs.erase(handle);
    return exec ? hipSuccess : hipErrorInvalidValue;
  });
}

hipError_t hipGraphCreate(hipGraph_t *graph, unsigned flags) {
  return lockedCall([&](Runtime &runtime) {
    if (!graph || flags != 0)
      return hipErrorInvalidValue;
    *graph = runtime.graphs.insert(std::make_shared<Graph>());
    return hipSuccess;
  });
}

hipError_t hipGraphDestroy(hipGraph_t handle) {
  return apiCall([&](Runtime &runtime) {
    if (!handle)
      return hipErrorInvalidValue;
    std::shared_ptr<Graph> graph; // freed after the mutex is released, as above
    std::vector<std::shared_ptr<const GraphNode>> nodes;
    std::lock_guard lock(runtime.mutex);
    graph = runtime.graphs.erase(handle);
    if (!graph)
      return hipErrorIllegalState;
    for (hipGraphNode_t node : graph->handles)
      nodes.push_back(runtime.nodes.erase(node));
    return hipSuccess;
  });
}

hipError_t hipGraphGetNodes(hipGraph_t handle, hipGraphNode_t *nodes, size_t *numNodes) {
  return lockedCall([&](Runtime &runtime) {
    if (!handle || !numNodes)
      return hipErrorInvalidValue;
    std::shared_ptr<Graph> graph = runtime.graphs.find(handle);
    if (!graph)
      return hipErrorInvalidValue;
    size_t count = graph->handles.size();
    if (nodes) {
      for (size_t i = 0; i < *numNodes; ++i)
        nodes[i] = i < count ? graph->handles[i] : nullptr;
      count = std::min(count, *numNodes);
    }
    *numNodes = count;
    return hipSuccess;
  });
}

hipError_t hipGraphNodeGetType(hipGraphNode_t handle, hipGraphNodeType *type) {
  return lockedCall([&](Runtime &runtime) {
    if (!type)
      return hipErrorInvalidValue;
    std::shared_ptr<const GraphNode> node = runtime.nodes.find(handle);
    if (!node)
      return hipErrorInvalidValue;
    *type = nodeType(*node->operation);
    return hipSuccess;
  });
}
