/* Tensor maps: what the driver made, and of what. Its 128 bytes say nothing to anybody else. */
#include "access/tensor.h"
#include "shim/hooks/hook.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MAPS = 1 << 18 }; /* of a program that makes one a launch */

typedef struct known_map {
    cap_tensor said;
    UT_hash_handle hh; /* by said.map */
} known_map;

static known_map *known_maps;

static known_map *find_map(const void *map)
{
    known_map *found = NULL;
    HASH_FIND(hh, known_maps, map, sizeof found->said.map, found);
    return found;
}

/* With the lock held. Bytes that were made before, of the same, stand in the capture already. */
static void keep_map(const cap_tensor *said)
{
    known_map *m = find_map(said->map);
    if (m && memcmp(&m->said, said, sizeof *said) == 0)
        return;
    if (!m && (HASH_COUNT(known_maps) >= MOST_MAPS || !(m = calloc(1, sizeof *m))))
        return;
    bool fresh = m->hh.tbl == NULL;
    m->said = *said;
    if (fresh)
        HASH_ADD(hh, known_maps, said.map, sizeof m->said.map, m);
    REC_WRITE(tensor, said);
}

static void note_map(const CUtensorMap *map, cap_tensor *said)
{
    memcpy(said->map, map, sizeof said->map);
    pthread_mutex_lock(&rec_g.lock);
    keep_map(said);
    pthread_mutex_unlock(&rec_g.lock);
}

HOOK(cuTensorMapEncodeTiled,
     (CUtensorMap * map, unsigned element, cuuint32_t rank, void *address, const cuuint64_t *dim,
      const cuuint64_t *stride, const cuuint32_t *box, const cuuint32_t *step, unsigned interleave,
      unsigned swizzle, unsigned promotion, unsigned fill),
     (map, element, rank, address, dim, stride, box, step, interleave, swizzle, promotion, fill))
{
    CUresult result = real_cuTensorMapEncodeTiled(map, element, rank, address, dim, stride, box,
                                                  step, interleave, swizzle, promotion, fill);
    if (result != CUDA_SUCCESS || rank > ACC_TENSOR_RANK || element >= ACC_ELEMENT_COUNT)
        return result;
    cap_tensor said = {.address = (uint64_t)(uintptr_t)address,
                       .rank = rank,
                       .element = element,
                       .swizzle = swizzle,
                       .interleave = interleave,
                       .promotion = promotion,
                       .nan = fill};
    for (uint32_t i = 0; i < rank; i++) {
        said.dim[i] = dim[i];
        said.stride[i] = i ? stride[i - 1] : acc_element_bytes((acc_element)element);
        said.box[i] = box[i];
        said.step[i] = step[i];
    }
    note_map(map, &said);
    return result;
}

HOOK(cuTensorMapReplaceAddress, (CUtensorMap * map, void *address), (map, address))
{
    cap_tensor said = {.rank = 0};
    if (map) {
        pthread_mutex_lock(&rec_g.lock);
        known_map *before = find_map(map);
        if (before)
            said = before->said;
        pthread_mutex_unlock(&rec_g.lock);
    }
    CUresult result = real_cuTensorMapReplaceAddress(map, address);
    if (result == CUDA_SUCCESS && said.rank) {
        said.address = (uint64_t)(uintptr_t)address;
        note_map(map, &said);
    }
    return result;
}
