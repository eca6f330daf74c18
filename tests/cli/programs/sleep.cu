// A launch that finishes, then a long wait for somebody to end the program.
#include "common.h"

int main()
{
    filled(1000, 1);
    std::printf("launched\n");
    std::fflush(stdout);
    pause();
}
