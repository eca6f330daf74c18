/* Variable-length coding of 4-bit symbols: each block codes its words into a segment of its own, then the segments
 * are packed one after the other. */
#ifndef HUFFMAN_H
#define HUFFMAN_H

#include "../common/example.h"

#include <algorithm>

constexpr int THREADS = 256, SYMBOLS = 16, DIGITS = 4; /* symbols of a word */

struct code { /* of a symbol: the lowest `length` bits */
    unsigned bits, length;
};

/* A prefix code for these lengths, shortest first: each code is the one before plus one. */
inline std::vector<code> make_codes()
{
    static const unsigned lengths[SYMBOLS] = {2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 6, 6};
    std::vector<code> codes;
    unsigned next = 0, length = lengths[0];
    for (unsigned l : lengths) {
        next <<= l - length;
        length = l;
        codes.push_back({next++, l});
    }
    return codes;
}

/* The codes of a word's symbols, one after the other. */
__host__ __device__ inline code code_of(unsigned word, const code *codes)
{
    code all = {0, 0};
    for (int i = 0; i < DIGITS; i++) {
        code one = codes[word >> 4 * i & 15];
        all.bits = all.bits << one.length | one.bits;
        all.length += one.length;
    }
    return all;
}

/* What a code that begins at bit `at` of a row of words, the highest bit first, adds to word at / 32 and to the next.
 * */
struct piece {
    unsigned word, next;
};

__host__ __device__ inline piece place_code(code c, unsigned at)
{
    unsigned end = at % 32 + c.length;
    if (end <= 32)
        return {c.bits << (32 - end), 0};
    return {c.bits >> (end - 32), c.bits << (64 - end)};
}

/* dest: a segment of THREADS words for each block; sizes: how many of them it took. */
__global__ void encode(const unsigned *source, const code *table, unsigned *dest, unsigned *sizes)
{
    __shared__ unsigned bits[THREADS], ends[THREADS];
    __shared__ code codes[SYMBOLS];
    unsigned i = threadIdx.x;
    if (i < SYMBOLS)
        // finds: uncoalesced d_codes (cached)
        codes[i] = table[i];
    bits[i] = 0;
    __syncthreads();
    code c = code_of(source[blockIdx.x * THREADS + i], codes);
    ends[i] = c.length;
    for (unsigned step = 1; step < THREADS; step *= 2) {
        __syncthreads();
        unsigned before = i >= step ? ends[i - step] : 0;
        __syncthreads();
        ends[i] += before;
    }
    unsigned at = ends[i] - c.length;
    piece p = place_code(c, at);
    // finds: bank-conflict bits
    atomicOr(&bits[at / 32], p.word);
    if (p.next)
        atomicOr(&bits[at / 32 + 1], p.next);
    __syncthreads();
    dest[blockIdx.x * THREADS + i] = bits[i];
    if (i == THREADS - 1)
        sizes[blockIdx.x] = (ends[i] + 31) / 32;
}

/* offsets: where the segment of each block begins, and where the last one ends. */
__global__ void pack(const unsigned *dest, const unsigned *offsets, unsigned *packed)
{
    // finds: hot d_offsets (hidden)
    unsigned begin = offsets[blockIdx.x], size = offsets[blockIdx.x + 1] - begin;
    if (threadIdx.x < size)
        // finds: misaligned d_packed (hidden)
        packed[begin + threadIdx.x] = dest[blockIdx.x * THREADS + threadIdx.x];
}

/* Words of four symbols, of which low ones are common. */
inline std::vector<unsigned> make_words(size_t count)
{
    std::vector<unsigned> words(count);
    unsigned seed = 1;
    for (unsigned &w : words) {
        for (int i = 0; i < DIGITS; i++) {
            seed = seed * 1664525u + 1013904223u;
            w = w << 4 | (seed >> 28 & seed >> 24 & 15);
        }
    }
    return words;
}

inline std::vector<unsigned> reference(const std::vector<unsigned> &words,
                                       const std::vector<code> &codes)
{
    std::vector<unsigned> out;
    for (size_t block = 0; block < words.size(); block += THREADS) {
        size_t begin = out.size();
        unsigned at = 0;
        out.resize(begin + THREADS + 1);
        for (size_t i = block; i < block + THREADS; i++) {
            code c = code_of(words[i], codes.data());
            piece p = place_code(c, at);
            out[begin + at / 32] |= p.word;
            out[begin + at / 32 + 1] |= p.next;
            at += c.length;
        }
        out.resize(begin + (at + 31) / 32);
    }
    return out;
}

/* Sizes of segments to where they begin, in place; `sizes` has one element more. */
inline void add_up(std::vector<unsigned> &sizes)
{
    unsigned sum = 0;
    for (unsigned &size : sizes) {
        unsigned begin = sum;
        sum += size;
        size = begin;
    }
}

/* `compress` takes words to packed words, of which it returns the first ones that count. */
template <typename Compress> int run_huffman(int argc, char **argv, Compress compress)
{
    unsigned n = size_argument(argc, argv, 1 << 20) / THREADS * THREADS;
    std::vector<unsigned> words = make_words(n), packed(n);
    std::vector<code> codes = make_codes();
    compress(words.data(), codes.data(), packed.data(), n, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    std::vector<unsigned> want = reference(words, codes);
    if (!std::equal(want.begin(), want.end(), packed.begin())) {
        std::printf("wrong\n");
        return 1;
    }
    std::printf("ok\n");
    return 0;
}

#endif
