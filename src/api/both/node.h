/* What the nodes of graphs do: parameters in, work for the core out, and back.
 *
 * CUgraphNodeParams names all that a node can do. The runtime's cudaGraphNodeParams has the same
 * layout (node.c asserts it) but for copies, and it names kernels in another way; the functions of
 * api_side see to these two. Entry points that know one kind of node only give its part: what
 * stands in the union of CUgraphNodeParams, of copies the CUDA_MEMCPY3D or cudaMemcpy3DParms. */
#ifndef WL_API_BOTH_NODE_H
#define WL_API_BOTH_NODE_H

#include "cuda/driver_types.h"
#include "device/device.h"

typedef struct api_side {
    /* The function that the parameters name, in the call's context. */
    dev_result (*function)(dev_call *call, const CUDA_KERNEL_NODE_PARAMS_v2 *kernel,
                           dev_launch *launch);
    dev_result (*read_copy)(const void *params, dev_copy *copy);
    void (*write_copy)(const dev_copy *copy, void *params);
    /* The context for memory that a node allocates on the device. */
    dev_result (*context)(dev_call *call, int device, dev_context **context);
    bool gives_back; /* questions are answered with the parameters as the application gave them */
} api_side;

/* `p`: also receives the address of a node that allocates. */
dev_result api_add_node(dev_call *call, const api_side *side, CUgraphNode *out, CUgraph graph,
                        const CUgraphNode *needs, size_t count, CUgraphNodeParams *p);
dev_result api_set_node(dev_call *call, const api_side *side, CUgraphNode node,
                        const CUgraphNodeParams *p);
/* Of an instance. */
dev_result api_set_step(dev_call *call, const api_side *side, CUgraphExec exec, CUgraphNode node,
                        const CUgraphNodeParams *p);

/* The same with a part, of which there are `bytes`. */
dev_result api_add_part(dev_call *call, const api_side *side, CUgraphNode *out, CUgraph graph,
                        const CUgraphNode *needs, size_t count, CUgraphNodeType type,
                        const void *part, size_t bytes);
dev_result api_add_alloc(dev_call *call, const api_side *side, CUgraphNode *out, CUgraph graph,
                         const CUgraphNode *needs, size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *part);
dev_result api_get_part(dev_call *call, const api_side *side, CUgraphNode node,
                        CUgraphNodeType type, void *part, size_t bytes);
dev_result api_set_part(dev_call *call, const api_side *side, CUgraphNode node,
                        CUgraphNodeType type, const void *part, size_t bytes);
dev_result api_set_step_part(dev_call *call, const api_side *side, CUgraphExec exec,
                             CUgraphNode node, CUgraphNodeType type, const void *part,
                             size_t bytes);

#endif
