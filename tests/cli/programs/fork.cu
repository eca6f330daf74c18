// Parent and child use CUDA, the child after an exec of this program as CUDA demands, and one child without exec.
#include "common.h"
#include <sys/wait.h>

static int end_of(pid_t child)
{
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

int main(int argc, char **argv)
{
    bool child = argc > 1 && std::strcmp(argv[1], "child") == 0;
    int n = child ? 500 : 1000;
    int *data = filled(n, 7);
    bool right = is_filled(data, n, 7);
    if (!child) {
        std::fflush(stdout);
        pid_t idle = fork();
        if (idle == 0)
            _exit(5); // a child that never touches CUDA
        pid_t worker = fork();
        if (worker == 0) {
            execl("/proc/self/exe", argv[0], "child", static_cast<char *>(nullptr));
            _exit(6);
        }
        right &= end_of(idle) == 5 && end_of(worker) == 0;
        right &= is_filled(data, n, 7);
    }
    std::printf("%s %s\n", child ? "child" : "parent", right ? "ok" : "wrong");
    return right ? 0 : 1;
}
