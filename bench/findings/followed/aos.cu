#include "common.h"
struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
__global__ void move(Particle *p, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p[i].x += p[i].vx * dt;
    p[i].y += p[i].vy * dt;
    p[i].z += p[i].vz * dt;
}
int main()
{
    const int n = 1 << 20; unsigned s = 1;
    std::vector<Particle> h(n);
    for (auto &p : h) { p.x = frand(s); p.y = frand(s); p.z = frand(s); p.vx = frand(s); p.vy = frand(s); p.vz = frand(s); p.mass = p.charge = 1; }
    Particle *d = upload(h);
    move<<<(n + 255) / 256, 256>>>(d, 0.01f, n);
    h = download(d, n);
    std::vector<float> out; for (auto &p : h) { out.push_back(p.x); out.push_back(p.y); out.push_back(p.z); }
    print_sum(out); cudaFree(d);
}
