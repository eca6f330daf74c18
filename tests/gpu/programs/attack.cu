// attack HOW [N]: what a program may do to a tool that lives in it. Every way prints what came out of it, and how far it is
// after each wait, so that whoever kills it knows which launches were complete. `ways` in main lists them.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const int elements = 1 << 14;

__global__ void fill(int *index, float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        index[i] = (i * 7919 + 13) % n;
        data[i] = 1;
    }
}

// What it accesses follows from the launch.
__global__ void add(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

// What it accesses depends on data: a copy of it that records runs in its place.
__global__ void gather(float *out, const float *data, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += data[index[i]];
}

__global__ void stop(const int *index, int how)
{
    if (index[threadIdx.x] < 0 || threadIdx.x || blockIdx.x)
        return;
    if (how == 0)
        asm("trap;");
    if (how == 1)
        *(volatile int *)(16 + index[0] * 0L) = 1;
    if (how == 2)
        *(volatile int *)((char *)index + 1) = 1;
}

struct arrays {
    int *index;
    float *data, *out;
    cudaStream_t stream;
};

static arrays make(bool own_stream)
{
    arrays a = {};
    if (own_stream)
        cudaStreamCreate(&a.stream);
    cudaMalloc(&a.index, elements * sizeof *a.index);
    cudaMalloc(&a.data, elements * sizeof *a.data);
    cudaMalloc(&a.out, elements * sizeof *a.out);
    cudaMemsetAsync(a.out, 0, elements * sizeof *a.out, a.stream);
    fill<<<elements / 128, 128, 0, a.stream>>>(a.index, a.data, elements);
    return a;
}

// Two launches.
static void step(const arrays &a)
{
    add<<<elements / 128, 128, 0, a.stream>>>(a.data, elements);
    gather<<<elements / 128, 128, 0, a.stream>>>(a.out, a.data, a.index, elements);
}

static double sum(const arrays &a)
{
    std::vector<float> host(elements);
    cudaMemcpyAsync(host.data(), a.out, elements * sizeof(float), cudaMemcpyDeviceToHost, a.stream);
    if (cudaError_t e = cudaStreamSynchronize(a.stream)) {
        printf("%s\n", cudaGetErrorName(e));
        return -1;
    }
    double all = 0;
    for (float f : host)
        all += f;
    return all;
}

static void say(long done)
{
    printf("launches %ld\n", done);
    fflush(stdout);
}

static int launches(int n)
{
    arrays a = make(false);
    for (int i = 0; i < n; i++) {
        step(a);
        if (i % 10 == 9 && cudaDeviceSynchronize() == cudaSuccess)
            say(1 + 2L * (i + 1));
    }
    printf("sum %g\n", sum(a));
    return 3;
}

// Launches in a row, nobody waits.
static int many(int n)
{
    arrays a = make(false);
    for (int i = 0; i < n / 2; i++)
        step(a);
    printf("sum %g\n", sum(a));
    return 0;
}

static int threads(int n)
{
    std::vector<std::thread> all;
    std::vector<double> sums(8);
    for (size_t t = 0; t < sums.size(); t++)
        all.emplace_back([t, n, &sums] {
            arrays a = make(true);
            for (int i = 0; i < n; i++) {
                step(a);
                if (i % 16 == 15)
                    cudaStreamSynchronize(a.stream);
            }
            sums[t] = sum(a);
            cudaFree(a.out);
            cudaStreamDestroy(a.stream);
        });
    for (std::thread &t : all)
        t.join();
    for (double s : sums)
        printf("sum %g\n", s);
    return 0;
}

// A thread is in the middle of a launch when the process ends.
static int leave(int n)
{
    std::thread([] {
        arrays a = make(true);
        for (;;) {
            step(a);
            cudaStreamSynchronize(a.stream);
        }
    }).detach();
    launches(n);
    fflush(stdout);
    _exit(4);
}

static void wait_for(const char *what, pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    printf("%s %d %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -1, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    fflush(stdout);
}

static pid_t child()
{
    fflush(stdout);
    return fork();
}

// Children before CUDA is used, which use it themselves, and after, which may not; one that becomes another program.
static int forks(int n)
{
    pid_t before = child();
    if (!before)
        exit(launches(n));
    wait_for("child before", before);
    arrays a = make(false);
    step(a);
    cudaDeviceSynchronize();
    for (int i = 0; i < 8; i++) {
        pid_t after = child();
        if (!after && i % 4 == 0)
            _exit(7);
        if (!after && i % 4 == 1)
            exit(8);
        if (!after && i % 4 == 2) {
            execl("/proc/self/exe", "attack", "launches", "3", (char *)NULL);
            _exit(9);
        }
        if (!after)
            abort();
        step(a);
        wait_for("child after", after);
        step(a);
    }
    printf("sum %g\n", sum(a));
    return 0;
}

// Forks while another thread launches.
static int forks_beside(int n)
{
    std::thread beside([n] {
        arrays a = make(true);
        for (int i = 0; i < n; i++) {
            step(a);
            cudaStreamSynchronize(a.stream);
        }
        printf("sum %g\n", sum(a));
    });
    for (int i = 0; i < 20; i++) {
        pid_t one = fork();
        if (!one)
            _exit(i);
        int status;
        waitpid(one, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != i)
            abort();
    }
    beside.join();
    return 0;
}

// A fault of the device, after launches that went well; every call after it fails.
static int fault(int how)
{
    arrays a = make(false);
    step(a);
    printf("sum %g\n", sum(a));
    stop<<<2, 32>>>(a.index, how);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    step(a);
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    void *more = NULL;
    printf("%s\n", cudaGetErrorName(cudaMalloc(&more, 64)));
    printf("sum %g\n", sum(a));
    return 5;
}

static int reset(int n)
{
    for (int i = 0; i < n; i++) {
        arrays a = make(false);
        step(a);
        printf("sum %g\n", sum(a));
        printf("%s\n", cudaGetErrorName(cudaDeviceReset()));
    }
    return 0;
}

// All of the device's memory but some megabytes is the program's.
static int full(int megabytes)
{
    arrays a = make(false);
    std::vector<void *> taken;
    size_t free_bytes = 0, all = 0, bytes = (size_t)megabytes << 20;
    for (void *p; cudaMemGetInfo(&free_bytes, &all) == cudaSuccess && free_bytes > 2 * bytes;) {
        size_t next = (free_bytes - bytes) / 2 < bytes ? bytes / 2 : (free_bytes - bytes) / 2;
        if (cudaMalloc(&p, next))
            break;
        taken.push_back(p);
    }
    cudaGetLastError();
    for (int i = 0; i < 20; i++)
        step(a);
    printf("sum %g\n", sum(a));
    for (void *p : taken)
        cudaFree(p);
    step(a);
    printf("sum %g\n", sum(a));
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int n);
    } ways[] = {{"launches", launches}, {"many", many},   {"threads", threads},
                {"leave", leave},       {"forks", forks}, {"forks-beside", forks_beside},
                {"fault", fault},       {"reset", reset}, {"full", full}};
    int n = argc > 2 ? atoi(argv[2]) : 1;
    for (auto &way : ways)
        if (argc > 1 && !strcmp(argv[1], way.name))
            return way.run(n);
    fprintf(stderr, "attack: launches, many, threads, leave, forks, forks-beside, fault, reset or full\n");
    return 2;
}
