/* Launches in ranges of every kind that NVTX has, compiled with NVTX's own headers. Each launch is
 * known by its grid. Prints the levels of ranges. */
#include <cstdio>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <thread>

template <typename T> __global__ void kernel(T *at)
{
    atomicAdd(at, 1);
}

static int *at;

static void launch(int grid)
{
    if (grid % 2)
        kernel<<<grid, 1>>>(at);
    else
        kernel<<<grid, 1>>>(reinterpret_cast<unsigned *>(at));
}

static nvtxEventAttributes_t named(const char *name)
{
    nvtxEventAttributes_t event = {};
    event.version = NVTX_VERSION;
    event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name;
    return event;
}

static void push_and_pop()
{
    int levels[4] = {nvtxRangePushA("outer")};
    launch(2);
    nvtxMarkA("a mark");
    levels[1] = nvtxRangePushW(L"grö\u00dfe \U0001f600");
    launch(3);
    levels[2] = nvtxRangePop();
    launch(4);
    levels[3] = nvtxRangePop();
    std::printf("%d %d %d %d %d\n", levels[0], levels[1], levels[2], levels[3], nvtxRangePop() < 0);
}

static void domains()
{
    nvtxDomainHandle_t model = nvtxDomainCreateA("model");
    nvtxEventAttributes_t layer = named("");
    layer.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    layer.message.registered = nvtxDomainRegisterStringA(model, "layer");
    nvtxEventAttributes_t within = named("within");
    int levels[2] = {nvtxDomainRangePushEx(model, &layer), nvtxRangePushEx(&within)};
    launch(5);
    nvtxDomainRangePop(model); /* not the innermost */
    launch(6);
    nvtxRangePop();
    nvtxDomainDestroy(model);
    std::printf("%d %d\n", levels[0], levels[1]);
}

static void starts()
{
    nvtxEventAttributes_t other = named("other");
    nvtxDomainHandle_t data = nvtxDomainCreateW(L"data");
    nvtxRangeId_t load = nvtxRangeStartA("load"), second = nvtxDomainRangeStartEx(data, &other);
    std::thread([] {
        nvtxRangePushA("on a thread");
        launch(7);
    }).join();
    launch(8);
    nvtxRangeEnd(load);
    launch(9);
    nvtxDomainRangeEnd(data, second);
    launch(10);
}

static void steps()
{
    char name[16];
    for (int i = 0; i < 3; i++) {
        std::snprintf(name, sizeof name, "step %d", i);
        nvtxRangePushA("loop");
        nvtxRangePushA(name);
        launch(11);
        nvtxRangePop();
        nvtxRangePop();
    }
}

static void graph()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    nvtxRangePushA("captured");
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    kernel<<<12, 1, 0, stream>>>(at);
    cudaStreamEndCapture(stream, &graph);
    nvtxRangePop();
    cudaGraphInstantiate(&exec, graph, 0);
    nvtxRangePushA("replayed");
    cudaGraphLaunch(exec, stream);
    cudaStreamSynchronize(stream);
    nvtxRangePop();
}

int main()
{
    int count = 0;
    nvtxRangePushA("no call is made in it");
    nvtxRangePop();
    cudaMalloc(&at, sizeof *at);
    cudaMemset(at, 0, sizeof *at);
    launch(1);
    push_and_pop();
    domains();
    starts();
    steps();
    graph();
    cudaMemcpy(&count, at, sizeof count, cudaMemcpyDeviceToHost);
    std::printf("%d\n", count);
    return 0;
}
