#include "common.h"
struct Particle { float x, y, z, vx, vy, vz, mass, charge; };
struct Particles { float *x, *y, *z, *vx, *vy, *vz; };
__global__ void move(Particles p, float dt, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    p.x[i] += p.vx[i] * dt;
    p.y[i] += p.vy[i] * dt;
    p.z[i] += p.vz[i] * dt;
}
int main()
{
    const int n = 1 << 20; unsigned s = 1;
    std::vector<Particle> h(n);
    for (auto &p : h) { p.x = frand(s); p.y = frand(s); p.z = frand(s); p.vx = frand(s); p.vy = frand(s); p.vz = frand(s); p.mass = p.charge = 1; }
    std::vector<float> c[6];
    for (auto &p : h) { c[0].push_back(p.x); c[1].push_back(p.y); c[2].push_back(p.z); c[3].push_back(p.vx); c[4].push_back(p.vy); c[5].push_back(p.vz); }
    Particles d = {upload(c[0]), upload(c[1]), upload(c[2]), upload(c[3]), upload(c[4]), upload(c[5])};
    move<<<(n + 255) / 256, 256>>>(d, 0.01f, n);
    for (int k = 0; k < 3; k++) c[k] = download((&d.x)[k], n);
    std::vector<float> out; for (int i = 0; i < n; i++) for (int k = 0; k < 3; k++) out.push_back(c[k][i]);
    print_sum(out); for (int k = 0; k < 6; k++) cudaFree((&d.x)[k]);
}
