// What processes do: life WHAT. Each case prints what it finds; the test knows what that must be.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void add_one(int *p)
{
    p[threadIdx.x] += 1;
}

__global__ void beyond(int *p, int n)
{
    p[threadIdx.x + n] = 1;
}

__global__ void deadlock(int *p)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    *p = 1;
}

__global__ void forever(volatile int *p)
{
    while (*p == 0)
        ;
}

__global__ void begin_and_stay(volatile int *begun)
{
    *begun = 1;
    while (*begun == 1)
        ;
}

__global__ void tell(int n)
{
    printf("device %d\n", n);
}

// 1, or the negative error.
static int work()
{
    int h[32] = {0}, *d;
    cudaError_t e = cudaMalloc(&d, sizeof h);
    if (e)
        return -(int)e;
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    add_one<<<1, 32>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    e = cudaFree(d);
    return e ? -(int)e : h[31];
}

static void say(const char *what, int n)
{
    printf("%s %d\n", what, n);
    fflush(stdout);
}

static int *memory()
{
    int *d;
    cudaMalloc(&d, 128);
    return d;
}

static int forked()
{
    if (fork() == 0) {
        say("child", work());
        exit(0);
    }
    wait(nullptr);
    say("parent", work());
    return 0;
}

static int closed()
{
    say("before", work());
    close_range(3, ~0U, 0);
    int victim = open("victim", O_CREAT | O_TRUNC | O_RDWR, 0644);
    while (dup(victim) < 300)
        ;
    say("after", work());
    say("victim", (int)lseek(victim, 0, SEEK_END));
    if (chdir("/") == 0)
        say("elsewhere", work());
    return 0;
}

static int limited()
{
    struct rlimit limit = {20000, 20000};
    setrlimit(RLIMIT_FSIZE, &limit);
    int sum = 0;
    for (int i = 0; i < 200; i++)
        sum += work();
    say("sum", sum);
    return 0;
}

static int full()
{
    void *p;
    size_t available, total;
    int n = 0;
    cudaMemGetInfo(&available, &total);
    say("all at once and more", cudaMalloc(&p, available + 1));
    while (cudaMalloc(&p, total / 8) == cudaSuccess)
        n++;
    say("eighths", n);
    say("work", work());
    return 0;
}

static int threads()
{
    std::thread t[4];
    static int sum[4];
    for (int i = 0; i < 4; i++)
        t[i] = std::thread([i] {
            for (int k = 0; k < 25; k++)
                sum[i] += work();
        });
    for (auto &each : t)
        each.join();
    say("sum", sum[0] + sum[1] + sum[2] + sum[3]);
    return 0;
}

static int unsupported()
{
    cudaIpcMemHandle_t handle;
    int *d = memory();
    say("first", cudaIpcGetMemHandle(&handle, d));
    say("again", cudaIpcGetMemHandle(&handle, d));
    say("last", cudaGetLastError());
    return 0;
}

static int printing()
{
    tell<<<1, 1>>>(1);
    printf("host 2\n");
    cudaDeviceSynchronize();
    printf("host 3\n");
    return 0;
}

// Gets the signal while its kernel runs.
static void end_in_kernel(int signal)
{
    volatile int *begun;
    cudaMallocHost((void **)&begun, sizeof *begun);
    *begun = 0;
    std::thread([begun, signal] {
        while (!*begun)
            std::this_thread::yield();
        kill(getpid(), signal);
    }).detach();
    begin_and_stay<<<1, 32>>>((int *)begun);
    cudaDeviceSynchronize();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    auto is = [what](const char *name) { return strcmp(what, name) == 0; };
    if (is("fork")) {
        say("first", work());
        return forked();
    }
    if (is("fork-first"))
        return forked();
    if (is("close"))
        return closed();
    if (is("limit"))
        return limited();
    if (is("full"))
        return full();
    if (is("threads"))
        return threads();
    if (is("unsupported"))
        return unsupported();
    if (is("print"))
        return printing();
    if (is("nothing"))
        return 4;
    say("work", work());
    if (is("exec"))
        execl("/proc/self/exe", "life", "once", (char *)nullptr);
    if (is("crash"))
        *(volatile int *)8 = 1;
    if (is("abort"))
        abort();
    if (is("kill"))
        kill(getpid(), SIGKILL);
    if (is("_exit"))
        _exit(5);
    if (is("quick_exit"))
        quick_exit(6);
    if (is("beyond")) {
        beyond<<<2, 32>>>(memory(), 1000);
        say("beyond", cudaDeviceSynchronize());
        return 7;
    }
    if (is("deadlock")) {
        deadlock<<<1, 64>>>(memory());
        say("deadlock", cudaDeviceSynchronize());
        return 8;
    }
    if (is("signal"))
        end_in_kernel(atoi(argv[2]));
    if (is("forever"))
        forever<<<1, 32>>>(memory());
    return 0;
}
