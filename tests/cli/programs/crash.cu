// A launch that finishes, then a crash of the host program.
#include "common.h"

int main()
{
    filled(1000, 1);
    std::printf("launched\n");
    std::fflush(stdout);
    *static_cast<volatile int *>(nullptr) = 1;
}
