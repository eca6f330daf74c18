/* How long sums of floating point in shared memory take, which the compiler makes loops of compare and swap: for
 * docs/model.md.
 *
 *     nvcc -O3 -arch=native -o spins bench/onchip/spins.cu && ./spins > bench/onchip/spins.csv
 *
 * Each lane of each warp adds to an element of its block's array, ROUNDS times: one of `words` elements that stand
 * `stride` apart, at random. Beside the clocks of a multiprocessor for each request of a warp stands what the requests
 * are like in the mean: wavefronts (lanes in the bank that has most of them), most lanes of a warp on one word, and
 * banks' passes for different words. */
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

constexpr int ROUNDS = 2000, TURN = 8, LANES = 32, BANKS = 32, MOST_BYTES = 96 << 10;

__host__ __device__ inline unsigned element_of(unsigned thread, unsigned turn, unsigned words)
{
    unsigned x = thread * 2654435761u + turn * 40503u * 65537u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    x *= 3266489917u;
    x ^= x >> 16;
    return x % words;
}

template <class T> __global__ void add_up(unsigned words, unsigned stride, int rounds, T *out)
{
    extern __shared__ double bytes[];
    T *sums = (T *)bytes;
    unsigned place[TURN];
    for (unsigned i = threadIdx.x; i < words * stride; i += blockDim.x)
        sums[i] = 0;
    for (unsigned i = 0; i < TURN; i++)
        place[i] = element_of(threadIdx.x, i, words) * stride;
    __syncthreads();
    for (int i = 0; i < rounds; i += TURN)
        for (unsigned k = 0; k < TURN; k++)
            atomicAdd(&sums[place[k]], (T)1);
    __syncthreads();
    if (out && threadIdx.x < words)
        out[threadIdx.x] = sums[threadIdx.x * stride];
}

struct likeness {
    double wavefronts, same, passes;
};

template <class T> static likeness likeness_of(unsigned threads, unsigned words, unsigned stride)
{
    likeness sum = {};
    unsigned warps = threads / LANES, wide = sizeof(T) / 4;
    for (unsigned w = 0; w < warps; w++)
        for (unsigned k = 0; k < TURN; k++) {
            std::map<unsigned, unsigned> lanes_of_word, lanes_of_bank;
            std::map<unsigned, std::set<unsigned>> words_of_bank;
            for (unsigned l = 0; l < LANES; l++) {
                unsigned place = element_of(w * LANES + l, k, words) * stride, bank = place * wide % BANKS;
                lanes_of_word[place]++;
                lanes_of_bank[bank]++;
                words_of_bank[bank].insert(place);
            }
            unsigned wavefronts = 0, same = 0, passes = 0;
            for (auto &b : lanes_of_bank)
                wavefronts = std::max(wavefronts, b.second);
            for (auto &l : lanes_of_word)
                same = std::max(same, l.second);
            for (auto &b : words_of_bank)
                passes = std::max(passes, (unsigned)b.second.size());
            sum.wavefronts += wavefronts, sum.same += same, sum.passes += passes;
        }
    double n = warps * TURN;
    return {sum.wavefronts / n, sum.same / n, sum.passes / n};
}

template <class T>
static double clocks_of_request(unsigned blocks, unsigned threads, unsigned words, unsigned stride)
{
    int khz;
    float ms;
    unsigned bytes = words * stride * sizeof(T);
    cudaEvent_t begin, end;
    cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0);
    cudaFuncSetAttribute(add_up<T>, cudaFuncAttributeMaxDynamicSharedMemorySize, MOST_BYTES);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    add_up<T><<<blocks, threads, bytes>>>(words, stride, TURN, nullptr);
    cudaEventRecord(begin);
    add_up<T><<<blocks, threads, bytes>>>(words, stride, ROUNDS, nullptr);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    return ms * khz / ROUNDS / (threads / LANES);
}

template <class T> static void measure(const char *type, int sms)
{
    const unsigned all_words[] = {1, 2, 4, 8, 16, 32, 64, 128, 512, 2048}, strides[] = {1, 2, 8, 16, 32};
    const unsigned shapes[][2] = {{1, 32}, {1, 128}, {1, 256}, {1, 1024}, {4, 256}, {8, 256}, {8, 64}};
    for (auto &shape : shapes)
        for (unsigned words : all_words)
            for (unsigned stride : strides) {
                unsigned blocks = shape[0], threads = shape[1];
                if ((stride > 1 && words == 1) || words * stride * sizeof(T) * blocks > 200 << 10 ||
                    words * stride * sizeof(T) > MOST_BYTES)
                    continue;
                likeness like = likeness_of<T>(threads, words, stride);
                double clocks = clocks_of_request<T>(sms * blocks, threads, words, stride) / blocks;
                std::printf("%s,%u,%u,%u,%u,%.2f,%.2f,%.2f,%.2f\n", type, blocks, threads, words, stride,
                            like.wavefronts, like.same, like.passes, clocks);
            }
}

int main()
{
    int sms;
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    std::printf("type,blocks_of_sm,threads,words,stride,wavefronts,same,passes,clocks\n");
    measure<float>("float", sms);
    measure<double>("double", sms);
}
