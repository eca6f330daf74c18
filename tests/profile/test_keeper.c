/* Who keeps what a call gives, read out of C++ text: variables, parameters, results, objects. */
#include "support/test.h"

#include "profile/keeper.h"

#include <string.h>

typedef struct kept_case {
    const char *text;
    kept_call call; /* `line` from 1 */
    keeper want;    /* without function and owner */
} kept_case;

static void expect_kept(const kept_case *c)
{
    wl_arena *arena = wl_arena_new();
    const code_text *code = code_text_of(c->text, arena);
    kept_call call = c->call;
    keeper k;
    call.path = call.path ? call.path : "";
    assert_true(code && keeper_of(code, &call, arena, &k));
    bool path = k.kind != KEEPER_CALLER || strcmp(k.path, c->want.path ? c->want.path : "") == 0;
    bool gives = k.kind != KEEPER_CALLER ||
                 (k.gives == c->want.gives && k.argument == c->want.argument);
    if (k.kind != c->want.kind || strcmp(k.name, c->want.name ? c->want.name : "") != 0 || !path ||
        !gives)
        fail_msg("%s\ngives kind %d, name \"%s\", gives %d, argument %u, path \"%s\"", c->text,
                 k.kind, k.name, k.gives, k.argument, k.path);
    wl_arena_free(arena);
}

#define MALLOC(line_) .call = {.name = "cudaMalloc", .gives = GIVES_BY_POINTER, .line = line_}
#define VARIABLE(name_) .want = {.kind = KEEPER_VARIABLE, .name = name_}
#define NOBODY .want = {.kind = KEEPER_UNKNOWN}
#define CALLER(name_, ...) .want = {.kind = KEEPER_CALLER, .name = name_, __VA_ARGS__}

static void arguments(void **state)
{
    (void)state;
    const kept_case cases[] = {
        {"void f() {\nfloat *x; cudaMalloc(&x, n); }", MALLOC(2), VARIABLE("x")},
        {"void f() {\nCHECK(\n  cudaMalloc(\n (void **)&x,\n n));\n}", MALLOC(2), VARIABLE("x")},
        {"void f() {\nCHECK(\n  cudaMalloc(\n (void **)&x,\n n));\n}", MALLOC(5), VARIABLE("x")},
        {"void f() {\nfor (int i = 0; i < 3; i++) cudaMalloc(&p[i], n);\n}", MALLOC(2),
         VARIABLE("p[i]")},
        {"void f(float **out) {\ncudaMalloc((void **)out, n);\n}", MALLOC(2),
         CALLER("out", .gives = GIVES_BY_POINTER)},
        {"void f(int n, float *&out) {\ncudaMalloc(&out, n);\n}", MALLOC(2),
         CALLER("out", .gives = GIVES_BY_REFERENCE, .argument = 1)},
        {"void f(float *mine) {\ncudaMalloc(&mine, n);\n}", MALLOC(2), VARIABLE("mine")},
        {"void f(Matrix *m) {\ncudaMalloc(&m->values, n);\n}", MALLOC(2),
         CALLER("m->values", .gives = GIVES_BY_POINTER, .path = "->values")},
        {"void f(Matrix m) {\ncudaMalloc(&m.values, n);\n}", MALLOC(2), VARIABLE("m.values")},
        {"template <class T>\nT *f(const std::vector<T> &v) {\nT *p;\ncudaMalloc(&p, n);\n"
         "return p;\n}",
         MALLOC(4), CALLER("p", .gives = GIVES_RESULT)},
        {"float f() {\nfloat *p, s;\ncudaMalloc(&p, n);\nreturn s + p[0];\n}", MALLOC(3),
         VARIABLE("p")},
        {"Matrix f() {\nMatrix m;\ncudaMalloc(&m.cols, n);\nreturn m;\n}", MALLOC(3),
         CALLER("m.cols", .gives = GIVES_RESULT, .path = ".cols")},
        {"void f(float **out) {\nfloat *p;\ncudaMalloc(&p, n);\n*out = p;\n}", MALLOC(3),
         CALLER("out", .gives = GIVES_BY_POINTER)},
        {"void f(float ***out) {\ncudaMalloc(&(*out)[i], n);\n}", MALLOC(2),
         CALLER("out[i]", .gives = GIVES_BY_POINTER, .path = "[i]")},
        {"struct B {\nB(int n) { cudaMalloc(&ptr_, n); }\nfloat *ptr_; };", MALLOC(2),
         CALLER("ptr_", .gives = GIVES_OBJECT)},
        {"void B::grow(int n)\n{\ncudaMalloc(&this->ptr_, n);\n}", MALLOC(3),
         CALLER("ptr_", .gives = GIVES_OBJECT)},
        {"float *global;\nint main() {\ncudaMalloc(&global, n);\n}", MALLOC(3), VARIABLE("global")},
        {"int main() {\nauto make = [&](int k) { float *q; cudaMalloc(&q, k); return q; };\n}",
         MALLOC(2), CALLER("q", .gives = GIVES_RESULT)},
        {"int main() {\nfloat *x;\nauto get = [&] { cudaMalloc(&x, 4); };\n}", MALLOC(3),
         VARIABLE("x")},
        {"int main() {\n// cudaMalloc(&no, 1);\nfoo(\"cudaMalloc(&no)\");\n}", MALLOC(3), NOBODY},
        {"void f() {\nCHECK( cudaMalloc(&a, n) )\nCHECK( cudaMalloc(&b, n) )\nfree(a);\n}",
         MALLOC(3), VARIABLE("b")},
        {"#if 1\nvoid f(int a) {\n#else\nvoid f(int b) {\n#endif\ncudaMalloc(&x, a);\n}\n"
         "float *g() {\nfloat *p; cudaMalloc(&p, 1); return p; }",
         MALLOC(9), CALLER("p", .gives = GIVES_RESULT)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_kept(&cases[i]);
}

#define UPLOAD .name = "upload", .gives = GIVES_RESULT, .line = 2

static void results(void **state)
{
    (void)state;
    const kept_case cases[] = {
        {"int main() {\nfloat *x = upload(v);\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nauto x = upload<float>(v);\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nx = (float *)ns::upload(v);\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nfloat *x = pool.upload(v);\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nx = pools[i]->parts().upload(v);\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"float *f() {\nreturn this->pool_.upload(v);\n}", .call = {UPLOAD},
         CALLER("", .gives = GIVES_RESULT)},
        {"int main() {\nif ((x = upload(v)) == NULL) return 1;\n}", .call = {UPLOAD},
         VARIABLE("x")},
        {"int main() {\nMatrix A = upload(v);\n}", .call = {UPLOAD, .path = ".cols"},
         VARIABLE("A.cols")},
        {"int main() {\nparts[i] = upload(v);\n}", .call = {UPLOAD, .path = ".cols"},
         VARIABLE("parts[i].cols")},
        {"int main() {\nT x(upload(v));\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nT x{upload(v)};\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nBuffer<T> x{upload(v)};\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"{\nT x(upload(v));\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nT x(upload(v));\n", .call = {UPLOAD}, VARIABLE("x")}, /* cut off */
        {"struct X {\nfloat *x = upload(v);\n};", .call = {UPLOAD}, VARIABLE("x")},
        {"int main() {\nparts.push_back(upload(v));\n}", .call = {UPLOAD}, VARIABLE("parts")},
        {"int main() {\nx = big ? upload(v) : 0;\n}", .call = {UPLOAD}, VARIABLE("x")},
        {"float *f() {\nreturn upload(v);\n}", .call = {UPLOAD}, CALLER("", .gives = GIVES_RESULT)},
        {"S::S(int n)\n: x_(upload(v)) {}", .call = {UPLOAD}, CALLER("x_", .gives = GIVES_OBJECT)},
        {"int main() {\nfloat s = sum(upload(v));\n}", .call = {UPLOAD}, NOBODY},
        {"int main() {\nfloat s = upload(v)[0];\n}", .call = {UPLOAD}, NOBODY},
        {"int main() {\nupload(v);\n}", .call = {UPLOAD}, NOBODY},
        {"int main() {\na = upload(v); b = upload(w);\n}", .call = {UPLOAD, .rank = 1, .of = 2},
         VARIABLE("b")},
        {"int main() {\na = upload(v); b = upload(w);\n}", .call = {UPLOAD, .of = 1}, NOBODY},
        {"int main() {\na = upload(v); b = upload(w);\n}", .call = {UPLOAD, .of = 1, .column = 20},
         VARIABLE("b")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_kept(&cases[i]);
}

#define REGISTER .call = {.name = "cudaHostRegister", .gives = GIVES_BY_VALUE, .line = 2}

static void given_memory(void **state)
{
    (void)state;
    const kept_case cases[] = {
        {"int main() {\ncudaHostRegister(x, n, 0);\n}", REGISTER, VARIABLE("x")},
        {"int main() {\ncudaHostRegister(x + 4, n, 0);\n}", REGISTER, VARIABLE("x")},
        {"int main() {\ncudaHostRegister(v.data(), n, 0);\n}", REGISTER, VARIABLE("v")},
        {"int main() {\ncudaHostRegister(s->rows[2].get(), n, 0);\n}", REGISTER,
         VARIABLE("s->rows[2]")},
        {"int main() {\ncudaHostRegister(v.data()->rows, n, 0);\n}", REGISTER, NOBODY},
        {"int main() {\ncudaHostRegister(v.size(), n, 0);\n}", REGISTER, NOBODY},
        {"void f(float *x) {\ncudaHostRegister(x, n, 0);\n}", REGISTER,
         CALLER("x", .gives = GIVES_BY_VALUE)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_kept(&cases[i]);
}

#define BUFFER .name = "Buffer", .gives = GIVES_OBJECT, .constructor = true, .line = 2
#define RESIZE .name = "resize", .gives = GIVES_OBJECT, .line = 2
#define LIBRARY(name_) .name = name_, .gives = GIVES_UNKNOWN, .line = 2

static void objects(void **state)
{
    (void)state;
    const kept_case cases[] = {
        {"int main() {\nBuffer<float> x(n);\n}", .call = {BUFFER}, VARIABLE("x")},
        {"int main() {\nBuffer<float> x(n), y(n);\n}", .call = {BUFFER, .rank = 1, .of = 2},
         VARIABLE("y")},
        {"int main() {\nBuffer<float> x(n), y(n);\n}", .call = {BUFFER, .of = 1}, NOBODY},
        {"int main() {\nBuffer x{n};\n}", .call = {BUFFER}, VARIABLE("x")},
        {"int main() {\nauto x = Buffer<float>(n);\n}", .call = {BUFFER}, VARIABLE("x")},
        {"int main() {\nBuffer *x = new Buffer(n);\n}", .call = {BUFFER}, VARIABLE("x")},
        {"int main() {\nFloats x(n);\n}", .call = {BUFFER}, VARIABLE("x")},
        {"struct S { Buffer<float> state; int k;\nS(int n) : k(n), state(n) {} };",
         .call = {BUFFER}, CALLER("state", .gives = GIVES_OBJECT)},
        {"struct S : Buffer {\nS(int n) : Buffer(n) {} };", .call = {BUFFER},
         CALLER("", .gives = GIVES_OBJECT)},
        {"int main() {\nx.resize(n);\n}", .call = {RESIZE}, VARIABLE("x")},
        {"int main() {\ns->x.resize(n);\n}", .call = {RESIZE}, VARIABLE("s->x")},
        {"void Buffer::grow() {\nresize(n);\n}", .call = {RESIZE},
         CALLER("", .gives = GIVES_OBJECT)},
        {"int main() {\nthrust::device_vector<float> t(n);\n}",
         .call = {LIBRARY("device_vector"), .constructor = true}, VARIABLE("t")},
        {"int main() {\nt.resize(n);\n}", .call = {LIBRARY("resize")}, VARIABLE("t")},
        {"int main() {\nauto p = std::make_unique<Buffer>(n);\n}", .call = {LIBRARY("make_unique")},
         VARIABLE("p")},
        {"int main() {\nfloat s = thrust::reduce(t.begin(), t.end());\n}",
         .call = {LIBRARY("reduce")}, NOBODY},
        {"int main() {\nt = host;\n}", .call = {LIBRARY("operator")}, VARIABLE("t")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_kept(&cases[i]);
}

static void macros(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
        uint32_t line;
    } cases[] = {
        {"#define GET(n, x) cudaMalloc((void **)&(x), n)\nint main() {\nGET(4, d_A);\n}", "d_A", 3},
        {"#define GET() cudaMalloc(&hidden, 4)\nint main() {\nGET(x);\n}", "", 3},
        {"int main() {\nint rc = run(1);\n}", "", 2},
        {"int main() {\nfloat *x = library_alloc(1);\n}", "x", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wl_arena *arena = wl_arena_new();
        kept_call call = {.line = cases[i].line};
        keeper k;
        assert_true(keeper_of_api(code_text_of(cases[i].text, arena), "cudaMalloc", &call, arena,
                                  &k));
        assert_string_equal(k.name, cases[i].want);
        wl_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments), cmocka_unit_test(results), cmocka_unit_test(given_memory),
        cmocka_unit_test(objects),   cmocka_unit_test(macros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
