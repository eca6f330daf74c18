/* Fat binaries, images and files, built by hand. */
#include "fatbin_builder.h"
#include "support/test.h"

#include <stdio.h>
#include <unistd.h>

#define PTX(sm) ".version 8.0\n.target sm_" sm "\n.address_size 64\n.visible .entry k() { ret; }\n"

static char long_ptx[20000];

static int make_long_ptx(void **state)
{
    size_t used = (size_t)snprintf(long_ptx, sizeof long_ptx, PTX("70"));
    (void)state;
    for (unsigned i = 0; used + 64 < sizeof long_ptx; i++)
        used += (size_t)snprintf(long_ptx + used, sizeof long_ptx - used,
                                 "// line %u of a comment\n", i);
    return 0;
}

static cuda_fatbin read_good(const builder *b)
{
    cuda_fatbin fatbin;
    wl_error err = {0};
    if (cuda_fatbin_read(b->data, b->size, &fatbin, &err) != WL_OK)
        fail_msg("%s", err.text);
    return fatbin;
}

static void content_is_expanded(void **state)
{
    static const cuda_compression ways[] = {CUDA_PLAIN, CUDA_LZ4, CUDA_ZSTD};
    (void)state;
    for (int i = 0; i < 3; i++) {
        builder b = builder_new();
        builder_add(&b, &(builder_entry){1, 70, 0, ways[i], long_ptx, strlen(long_ptx), "some.cu",
                                         "-g --compile-only"});
        cuda_fatbin fatbin = read_good(&b);
        unsigned char *content;
        size_t length;
        assert_int_equal(fatbin.count, 1);
        assert_int_equal(fatbin.bytes, b.size);
        assert_int_equal(fatbin.entries[0].kind, CUDA_ENTRY_PTX);
        assert_int_equal(fatbin.entries[0].compression, ways[i]);
        assert_string_equal(fatbin.entries[0].name, "some.cu");
        assert_true(fatbin.entries[0].relocatable);
        assert_int_equal(cuda_entry_content(&fatbin.entries[0], &content, &length, NULL), WL_OK);
        assert_int_equal(length, strlen(long_ptx));
        assert_string_equal((const char *)content, long_ptx);
        free(content);
        cuda_fatbin_clear(&fatbin);
        free(b.data);
    }
}

static void architectures_fit(void **state)
{
    (void)state;
    assert_true(cuda_arch_fits(52, 0, 90));
    assert_true(cuda_arch_fits(90, 0, 90));
    assert_false(cuda_arch_fits(100, 0, 90));
    assert_true(cuda_arch_fits(90, 'a', 90));
    assert_false(cuda_arch_fits(90, 'a', 100));
    assert_true(cuda_arch_fits(100, 'f', 103));
    assert_false(cuda_arch_fits(103, 'f', 100));
    assert_false(cuda_arch_fits(100, 'f', 120));
}

static void check_choice(const builder *b, unsigned sm, unsigned arch, char variant)
{
    cuda_fatbin fatbin = read_good(b);
    const cuda_entry *entry = cuda_fatbin_choose(&fatbin, CUDA_ENTRY_PTX, sm);
    if (arch == 0) {
        assert_null(entry);
    } else {
        assert_non_null(entry);
        assert_int_equal(entry->kind, CUDA_ENTRY_PTX);
        assert_int_equal(entry->arch, arch);
        assert_int_equal(entry->variant, variant);
    }
    cuda_fatbin_clear(&fatbin);
}

static void the_best_ptx_is_chosen(void **state)
{
    builder b = builder_new();
    (void)state;
    builder_sass(&b, 90);
    builder_ptx(&b, 90, 0, CUDA_ZSTD, PTX("90"));
    builder_ptx(&b, 52, 0, CUDA_LZ4, PTX("52"));
    builder_ptx(&b, 90, 'a', CUDA_PLAIN, PTX("90a"));
    builder_ptx(&b, 100, 'f', CUDA_PLAIN, PTX("100f"));
    builder_ptx(&b, 80, 0, CUDA_PLAIN, PTX("80"));
    builder_sass(&b, 120);
    check_choice(&b, 50, 0, 0);
    check_choice(&b, 52, 52, 0);
    check_choice(&b, 75, 52, 0);
    check_choice(&b, 86, 80, 0);
    check_choice(&b, 90, 90, 'a');
    check_choice(&b, 100, 100, 'f');
    check_choice(&b, 103, 100, 'f');
    check_choice(&b, 120, 90, 0);
    free(b.data);
}

static void images_of_all_kinds(void **state)
{
    builder b = builder_new();
    cuda_image image;
    wl_error err = {0};
    (void)state;
    builder_sass(&b, 90);
    builder_ptx(&b, 80, 0, CUDA_LZ4, PTX("80"));
    const void *none = NULL;
    cuda_fatbin_wrapper wrapper = {CUDA_WRAPPER_MAGIC, 1, b.data, &none};
    const void *const images[] = {b.data, &wrapper, PTX("80"), "\n\n// x\n/* y */ " PTX("80")};
    const cuda_image_kind kinds[] = {CUDA_IMAGE_FATBIN, CUDA_IMAGE_WRAPPER, CUDA_IMAGE_PTX,
                                     CUDA_IMAGE_PTX};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(cuda_image_identify(images[i], CUDA_SIZE_UNKNOWN), kinds[i]);
        assert_int_equal(cuda_image_read(images[i], CUDA_SIZE_UNKNOWN, 90, &image, &err), WL_OK);
        assert_int_equal(image.count, 1);
        assert_int_equal(image.ptx[0].arch, 80);
        assert_non_null(strstr(image.ptx[0].text, PTX("80")));
        cuda_image_clear(&image);
    }
    assert_int_equal(cuda_image_read(&wrapper, sizeof wrapper, 90, &image, &err), WL_ARG);
    assert_int_equal(cuda_image_read(PTX("100"), CUDA_SIZE_UNKNOWN, 90, &image, &err),
                     WL_UNSUPPORTED);
    assert_non_null(strstr(err.text, "sm_100"));
    assert_int_equal(cuda_image_read(PTX("90a"), CUDA_SIZE_UNKNOWN, 100, &image, &err),
                     WL_UNSUPPORTED);
    assert_int_equal(cuda_image_read("garbage", CUDA_SIZE_UNKNOWN, 90, &image, &err), WL_PARSE);
    assert_int_equal(cuda_image_read("", CUDA_SIZE_UNKNOWN, 90, &image, &err), WL_PARSE);
    assert_int_equal(cuda_image_read("x", 1, 90, &image, &err), WL_PARSE);
    assert_int_equal(cuda_image_read(NULL, CUDA_SIZE_UNKNOWN, 90, &image, &err), WL_ARG);
    assert_int_equal(cuda_image_read("/* never closed", CUDA_SIZE_UNKNOWN, 90, &image, &err),
                     WL_PARSE);
    free(b.data);
}

static void what_is_missing_is_said(void **state)
{
    builder b = builder_new();
    cuda_image image;
    wl_error err = {0};
    (void)state;
    builder_sass(&b, 75);
    builder_sass(&b, 80);
    builder_ptx(&b, 100, 'a', CUDA_PLAIN, PTX("100a"));
    assert_int_equal(cuda_image_read(b.data, b.size, 90, &image, &err), WL_NOENT);
    assert_non_null(strstr(err.text, "SASS for sm_75, SASS for sm_80, PTX for sm_100a"));
    assert_null(image.ptx);
    free(b.data);
}

/* As nvcc -rdc=true: the linked fatbin has SASS only; the objects' fatbins follow in the wrapper.
 */
static void relocatable_code_comes_in_parts(void **state)
{
    builder linked = builder_new(), first = builder_new(), second = builder_new(),
            library = builder_new();
    cuda_image image;
    (void)state;
    builder_sass(&linked, 90);
    builder_ptx(&first, 90, 0, CUDA_ZSTD, PTX("90") "// first");
    builder_ptx(&second, 80, 0, CUDA_ZSTD, PTX("80") "// second");
    builder_ptx(&library, 121, 0, CUDA_ZSTD, PTX("121"));
    const void *const parts[] = {first.data, second.data, library.data, NULL};
    cuda_fatbin_wrapper wrapper = {CUDA_WRAPPER_MAGIC, 2, linked.data, parts};
    assert_int_equal(cuda_image_read(&wrapper, CUDA_SIZE_UNKNOWN, 90, &image, NULL), WL_OK);
    assert_int_equal(image.count, 2);
    assert_non_null(strstr(image.ptx[0].text, "first"));
    assert_non_null(strstr(image.ptx[1].text, "second"));
    cuda_image_clear(&image);
    wrapper.version = 1;
    assert_int_equal(cuda_image_read(&wrapper, CUDA_SIZE_UNKNOWN, 90, &image, NULL), WL_NOENT);
    wrapper.fatbin = NULL;
    assert_int_equal(cuda_image_read(&wrapper, CUDA_SIZE_UNKNOWN, 90, &image, NULL), WL_ARG);
    free(linked.data), free(first.data), free(second.data), free(library.data);
}

static void impossible_sizes_are_refused(void **state)
{
    builder b = builder_new();
    unsigned char *content;
    size_t length;
    (void)state;
    builder_ptx(&b, 90, 0, CUDA_LZ4, long_ptx);
    cuda_fatbin fatbin = read_good(&b);
    cuda_entry entry = fatbin.entries[0];
    const size_t sizes[] = {SIZE_MAX,
                            SIZE_MAX / 2,
                            (size_t)CUDA_MAX_CONTENT + 1,
                            entry.expanded_bytes * 300,
                            entry.expanded_bytes - 1,
                            entry.expanded_bytes + 1,
                            0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        entry.expanded_bytes = sizes[i];
        assert_int_equal(cuda_entry_content(&entry, &content, &length, NULL), WL_CORRUPT);
        assert_null(content);
    }
    cuda_fatbin_clear(&fatbin);
    free(b.data);
}

/* Reads a copy that ends where its allocation does, so that a sanitizer sees any step beyond. */
static void read_all(const unsigned char *data, size_t size)
{
    unsigned char *copy = malloc(size ? size : 1);
    cuda_fatbin fatbin;
    cuda_image image;
    memcpy(copy, data, size);
    if (cuda_fatbin_read(copy, size, &fatbin, NULL) == WL_OK) {
        for (size_t i = 0; i < fatbin.count; i++) {
            unsigned char *content;
            size_t length;
            if (cuda_entry_content(&fatbin.entries[i], &content, &length, NULL) == WL_OK)
                free(content);
        }
        cuda_fatbin_clear(&fatbin);
    }
    if (cuda_image_read(copy, size, 90, &image, NULL) == WL_OK) {
        assert_true(image.count > 0);
        cuda_image_clear(&image);
    }
    free(copy);
}

static void damage_is_survived(void **state)
{
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    builder b = builder_new();
    (void)state;
    builder_sass(&b, 90);
    builder_ptx(&b, 90, 0, CUDA_ZSTD, PTX("90"));
    builder_ptx(&b, 80, 'a', CUDA_LZ4, PTX("80a") PTX("80a") PTX("80a"));
    builder_add(&b, &(builder_entry){1, 70, 0, CUDA_PLAIN, PTX("70"), sizeof PTX("70"), "a.cu",
                                     "--compile-only"});
    for (size_t i = 0; i <= b.size; i++)
        read_all(b.data, i);
    for (size_t i = 0; i < b.size; i++) {
        unsigned char was = b.data[i];
        for (size_t k = 0; k < sizeof values; k++) {
            b.data[i] = values[k];
            read_all(b.data, b.size);
        }
        b.data[i] = was ^ 0x10;
        read_all(b.data, b.size);
        b.data[i] = was;
    }
    free(b.data);
}

/* ---- files ---- */

static void write_file(char *path, const void *data, size_t size)
{
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, data, size), size);
    close(file);
}

static void files_of_fatbins(void **state)
{
    char path[] = "/tmp/wl_fatbin_XXXXXX";
    builder a = builder_new(), b = builder_new();
    cuda_file file;
    wl_error err = {0};
    (void)state;
    builder_ptx(&a, 90, 0, CUDA_PLAIN, PTX("90"));
    builder_ptx(&b, 80, 0, CUDA_LZ4, PTX("80"));
    a.data = realloc(a.data, a.size + b.size);
    memcpy(a.data + a.size, b.data, b.size);
    write_file(path, a.data, a.size + b.size);
    assert_int_equal(cuda_file_open(path, &file, &err), WL_OK);
    assert_int_equal(file.count, 2);
    assert_int_equal(file.fatbins[1].offset, a.size);
    assert_int_equal(file.fatbins[1].fatbin.entries[0].arch, 80);
    cuda_file_close(&file);
    assert_int_equal(truncate(path, (off_t)a.size + 40), 0);
    assert_int_equal(cuda_file_open(path, &file, &err), WL_TRUNCATED);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(cuda_file_open(path, &file, &err), WL_OK);
    assert_int_equal(file.count, 0);
    cuda_file_close(&file);
    unlink(path);
    assert_int_equal(cuda_file_open(path, &file, &err), WL_NOENT);
    assert_int_equal(cuda_file_open("/", &file, &err), WL_IO);
    assert_int_equal(cuda_file_open("/proc/self/exe", &file, &err), WL_OK);
    assert_int_equal(file.kind, CUDA_IMAGE_ELF);
    assert_int_equal(file.count, 0);
    cuda_file_close(&file);
    free(a.data), free(b.data);
}

/* Every prefix of an ELF file, and bytes turned over in its headers. */
static void damaged_elf_files_are_survived(void **state)
{
    char path[] = "/tmp/wl_elf_XXXXXX";
    unsigned char header[4096];
    cuda_file file;
    FILE *self = fopen("/proc/self/exe", "rb");
    (void)state;
    assert_int_equal(fread(header, 1, sizeof header, self), sizeof header);
    fclose(self);
    write_file(path, header, sizeof header);
    for (off_t size = sizeof header; size >= 0; size -= size > 128 ? 97 : 1) {
        assert_int_equal(truncate(path, size), 0);
        if (cuda_file_open(path, &file, NULL) == WL_OK)
            cuda_file_close(&file);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_is_expanded),
        cmocka_unit_test(architectures_fit),
        cmocka_unit_test(the_best_ptx_is_chosen),
        cmocka_unit_test(images_of_all_kinds),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(relocatable_code_comes_in_parts),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(damage_is_survived),
        cmocka_unit_test(files_of_fatbins),
        cmocka_unit_test(damaged_elf_files_are_survived),
    };
    return cmocka_run_group_tests(tests, make_long_ptx, NULL);
}
