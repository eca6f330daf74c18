/* Three memory-bound kernels of a language model: softmax and layer norm over rows of 1024, and the gathering of rows by
 * token. SIZE is the number of rows. */
#include "common.cuh"

constexpr int WIDTH = 1024, THREADS = 256, EACH = WIDTH / THREADS, WARPS = THREADS / 32, VOCABULARY = 32768;

struct Sum {
    __device__ static float join(float a, float b) { return a + b; }
};

struct Greatest {
    __device__ static float join(float a, float b) { return fmaxf(a, b); }
};

/* Joins the numbers of a block's threads; every thread gets the result. */
template <typename How> __device__ float over_block(float x)
{
    __shared__ float part[WARPS];
    for (int distance = 16; distance > 0; distance /= 2)
        x = How::join(x, __shfl_xor_sync(0xffffffffu, x, distance));
    __syncthreads(); /* the last use of part */
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int w = 1; w < WARPS; w++)
        x = How::join(x, part[w]);
    return x;
}

__global__ void softmax(const float *in, float *out)
{
    size_t row = static_cast<size_t>(blockIdx.x) * WIDTH;
    float x[EACH], greatest = -INFINITY, sum = 0;
    for (int i = 0; i < EACH; i++) {
        x[i] = in[row + i * THREADS + threadIdx.x];
        greatest = fmaxf(greatest, x[i]);
    }
    greatest = over_block<Greatest>(greatest);
    for (int i = 0; i < EACH; i++)
        sum += x[i] = expf(x[i] - greatest);
    sum = over_block<Sum>(sum);
    for (int i = 0; i < EACH; i++)
        out[row + i * THREADS + threadIdx.x] = x[i] / sum;
}

__global__ void layer_norm(const float *in, const float *scale, const float *shift, float *out)
{
    size_t row = static_cast<size_t>(blockIdx.x) * WIDTH;
    float x[EACH], sum = 0, squares = 0;
    for (int i = 0; i < EACH; i++)
        sum += x[i] = in[row + i * THREADS + threadIdx.x];
    float mean = over_block<Sum>(sum) / WIDTH;
    for (int i = 0; i < EACH; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    float factor = rsqrtf(over_block<Sum>(squares) / WIDTH + 1e-5f);
    for (int i = 0; i < EACH; i++) {
        int column = i * THREADS + threadIdx.x;
        out[row + column] = (x[i] - mean) * factor * scale[column] + shift[column];
    }
}

__global__ void embedding_gather(const int *tokens, const float4 *table, float4 *out)
{
    int token = tokens[blockIdx.x];
    out[blockIdx.x * (WIDTH / 4) + threadIdx.x] = table[token * (WIDTH / 4) + threadIdx.x];
}

struct Reference {
    std::vector<double> softmax, norm, gather;
};

static Reference reference(const std::vector<float> &in, const std::vector<float> &scale, const std::vector<float> &shift,
                           const std::vector<int> &tokens, const std::vector<float4> &table)
{
    Reference r;
    for (size_t row = 0; row < tokens.size(); row++) {
        const float *x = &in[row * WIDTH];
        double sum = 0, powers = 0, squares = 0;
        for (int i = 0; i < WIDTH; i++)
            sum += x[i], powers += std::exp(static_cast<double>(x[i]));
        for (int i = 0; i < WIDTH; i++)
            squares += (x[i] - sum / WIDTH) * (x[i] - sum / WIDTH);
        for (int i = 0; i < WIDTH; i++) {
            r.softmax.push_back(std::exp(static_cast<double>(x[i])) / powers);
            r.norm.push_back((x[i] - sum / WIDTH) / std::sqrt(squares / WIDTH + 1e-5) * scale[i] + shift[i]);
            r.gather.push_back((&table[static_cast<size_t>(tokens[row]) * (WIDTH / 4)].x)[i]);
        }
    }
    return r;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 16384);
    int rows = bench.size;
    size_t count = static_cast<size_t>(rows) * WIDTH;
    int vocabulary = std::min(VOCABULARY, 2 * rows);
    Random random(4);
    std::vector<int> tokens(rows);
    for (int &token : tokens)
        token = static_cast<int>(random.below(vocabulary));
    std::vector<float> in = random_floats(count, 1), scale = random_floats(WIDTH, 2), shift = random_floats(WIDTH, 3);
    std::vector<float4> table(static_cast<size_t>(vocabulary) * (WIDTH / 4));
    for (float4 &x : table)
        x = make_float4(random.unit(), random.unit(), random.unit(), random.unit());
    Array<float> d_in(in), d_scale(scale), d_shift(shift), d_softmax(count), d_norm(count);
    Array<int> d_tokens(tokens);
    Array<float4> d_table(table), d_gather(count / 4);
    bench.rounds([&] {
        bench.time("softmax", [&] { softmax<<<rows, THREADS>>>(d_in, d_softmax); });
        bench.time("layer_norm", [&] { layer_norm<<<rows, THREADS>>>(d_in, d_scale, d_shift, d_norm); });
        bench.time("embedding_gather", [&] { embedding_gather<<<rows, WIDTH / 4>>>(d_tokens, d_table, d_gather); });
    });
    Reference want;
    if (bench.check)
        want = reference(in, scale, shift, tokens, table);
    bench.expect("softmax", bench.result("softmax", d_softmax), want.softmax, 1e-5);
    bench.expect("norm", bench.result("norm", d_norm), want.norm, 1e-4);
    std::vector<float> gathered;
    for (const float4 &x : bench.result("gather", d_gather))
        gathered.insert(gathered.end(), {x.x, x.y, x.z, x.w});
    bench.expect("gather", gathered, want.gather);
    return bench.done();
}
