/* A hash table with open addresses, half full: SIZE keys are inserted, each by one lane that claims the first free slot, then
 * looked up, half of them in vain. */
#include "common.cuh"

constexpr unsigned EMPTY = 0xffffffffu, NONE = 0xffffffffu;

__host__ __device__ inline unsigned hash_of(unsigned key)
{
    key ^= key >> 16;
    key *= 0x85ebca6bu;
    key ^= key >> 13;
    key *= 0xc2b2ae35u;
    return key ^ key >> 16;
}

__global__ void hash_insert(const unsigned *keys, unsigned *slots, unsigned *values, unsigned mask, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], at = hash_of(key) & mask;
    while (true) {
        unsigned was = atomicCAS(&slots[at], EMPTY, key);
        if (was == EMPTY || was == key)
            break;
        at = (at + 1) & mask;
    }
    values[at] = key * 3;
}

__global__ void hash_find(const unsigned *keys, const unsigned *slots, const unsigned *values, unsigned *found, unsigned mask,
                          int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], at = hash_of(key) & mask, value = NONE;
    for (unsigned slot; (slot = slots[at]) != EMPTY; at = (at + 1) & mask)
        if (slot == key) {
            value = values[at];
            break;
        }
    found[i] = value;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 22);
    int n = bench.size;
    unsigned capacity = 1;
    while (capacity < 2u * static_cast<unsigned>(n))
        capacity *= 2;
    Random random(11);
    std::vector<unsigned> keys(n), asked(n), want, occupied(capacity), empty(capacity, EMPTY);
    for (int i = 0; i < n; i++) { /* inserted ones are even, so odd ones are not there */
        keys[i] = static_cast<unsigned>(i) * 2654435761u << 1;
        asked[i] = keys[random.below(n)] | (random.next() & 1);
    }
    Array<unsigned> d_keys(keys), d_asked(asked), d_empty(empty), d_slots(empty), d_values(capacity), d_found(n);
    bench.rounds([&] {
        d_slots.copy(d_empty);
        bench.time("hash_insert", [&] {
            hash_insert<<<blocks_for(n, 256), 256>>>(d_keys, d_slots, d_values, capacity - 1, n);
        });
        bench.time("hash_find", [&] {
            hash_find<<<blocks_for(n, 256), 256>>>(d_asked, d_slots, d_values, d_found, capacity - 1, n);
        });
    });
    /* Which slots are taken does not depend on the order of insertion, by which key does. */
    std::vector<unsigned> slots = d_slots.host();
    for (unsigned i = 0; i < capacity; i++)
        occupied[i] = slots[i] != EMPTY;
    Array<unsigned> d_occupied(occupied);
    bench.result("occupied", d_occupied);
    for (int i = 0; bench.check && i < n; i++)
        want.push_back(asked[i] & 1 ? NONE : asked[i] * 3);
    bench.expect("found", bench.result("found", d_found), want);
    return bench.done();
}
