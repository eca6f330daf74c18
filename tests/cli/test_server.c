/* The web server by itself: who is answered, what is said to others, and that clients do not wait for
 * each other. Requests are written by hand, as nobody's client would send most of them. */
#include "cli/server.h"
#include "support/test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TOKEN = 32, ANSWER = 4096 };

static pthread_barrier_t meeting;

static wl_status answer(void *ctx, const char *path, FILE *out, const char **type, wl_error *err)
{
    ++*(atomic_uint *)ctx;
    if (strcmp(path, "broken") == 0)
        return wl_fail(err, WL_CORRUPT, "the profile is damaged: make another");
    if (strcmp(path, "meet") == 0)
        pthread_barrier_wait(&meeting);
    else if (*path)
        return wl_fail(err, WL_NOENT, "there is no %s", path);
    *type = "text/html";
    fputs("hello", out);
    return WL_OK;
}

typedef struct fixture {
    cli_server *server;
    atomic_uint answers;
    uint16_t port;
    char token[TOKEN + 1];
} fixture;

static int start(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    wl_error err = {0};
    f->server = cli_server_start(0, answer, &f->answers, &err);
    if (!f->server)
        fail_msg("%s", err.text);
    assert_int_equal(sscanf(cli_server_url(f->server), "http://127.0.0.1:%hu/%32[0-9a-f]/",
                            &f->port, f->token),
                     2);
    assert_int_equal(strlen(f->token), TOKEN);
    *state = f;
    return 0;
}

static int stop(void **state)
{
    fixture *f = *state;
    cli_server_stop(f->server);
    free(f);
    return 0;
}

/* ---- a client ---- */

static int connect_to(const char *host, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The whole answer to these lines. */
static void answer_to(const fixture *f, const char *lines, char text[ANSWER])
{
    size_t size = 0;
    int fd = connect_to("127.0.0.1", f->port);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, lines, strlen(lines)), strlen(lines));
    for (ssize_t n; (n = read(fd, text + size, ANSWER - 1 - size)) > 0;)
        size += (size_t)n;
    close(fd);
    text[size] = '\0';
}

/* The status of the answer to these lines; `body` (may be NULL) is what stands behind its head. */
static int status_of(const fixture *f, const char *lines, char *body, size_t room)
{
    char text[ANSWER];
    int status = 0;
    answer_to(f, lines, text);
    assert_int_equal(sscanf(text, "HTTP/1.1 %d", &status), 1);
    const char *end = strstr(text, "\r\n\r\n");
    assert_non_null(end);
    if (body)
        snprintf(body, room, "%s", end + 4);
    return status;
}

static int ask(const fixture *f, const char *method, const char *path, const char *host, char *body,
               size_t room)
{
    char lines[1024];
    snprintf(lines, sizeof lines, "%s %s HTTP/1.1\r\n%s%s%sConnection: close\r\n\r\n", method, path,
             host ? "Host: " : "", host ? host : "", host ? "\r\n" : "");
    return status_of(f, lines, body, room);
}

/* The page of that name, with the token, by a host that is answered. */
static int get(const fixture *f, const char *name, char *body, size_t room)
{
    char path[200];
    snprintf(path, sizeof path, "/%s/%s", f->token, name);
    return ask(f, "GET", path, "127.0.0.1", body, room);
}

/* ---- tests ---- */

/* What keeps the page, and the token in its address, from others: it is told by each answer, also of what is refused. */
static void test_answers_are_kept_from_other_pages(void **state)
{
    fixture *f = *state;
    static const char *const heads[] = {
        "Cache-Control: no-store", "Content-Security-Policy: frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer",
        "X-Content-Type-Options: nosniff"};
    char text[ANSWER], lines[200];
    for (int known = 0; known < 2; known++) {
        snprintf(lines, sizeof lines,
                 "GET /%s/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                 known ? f->token : "x");
        answer_to(f, lines, text);
        for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
            if (!strstr(text, heads[i]))
                fail_msg("%s is not told: %s", heads[i], text);
        assert_non_null(strstr(text,
                               known ? "Content-Type: text/html" : "Content-Type: text/plain"));
    }
}

static void test_the_page_is_given(void **state)
{
    char body[200];
    assert_int_equal(get(*state, "", body, sizeof body), 200);
    assert_string_equal(body, "hello");
    assert_int_equal(((fixture *)*state)->answers, 1);
}

static void test_what_is_not_there_and_what_fails_say_so(void **state)
{
    char body[200];
    assert_int_equal(get(*state, "nothing", body, sizeof body), 404);
    assert_string_equal(body, "there is no nothing");
    assert_int_equal(get(*state, "broken", body, sizeof body), 500);
    assert_string_equal(body, "the profile is damaged: make another");
}

static void test_without_the_token_nothing_is_answered(void **state)
{
    fixture *f = *state;
    char wrong[100];
    const char *paths[] = {"/", "/x/", "/meet", wrong, "//", "/../", "*"};
    for (unsigned at = 0; at < TOKEN; at++) {
        snprintf(wrong, sizeof wrong, "/%s/", f->token);
        wrong[1 + at] = wrong[1 + at] == '0' ? '1' : '0';
        assert_int_equal(ask(f, "GET", wrong, "127.0.0.1", NULL, 0), 403);
    }
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        assert_int_equal(ask(f, "GET", paths[i], "127.0.0.1", NULL, 0), 403);
    snprintf(wrong, sizeof wrong, "/%s", f->token); /* without the slash behind it */
    assert_int_equal(ask(f, "GET", wrong, "127.0.0.1", NULL, 0), 403);
    snprintf(wrong, sizeof wrong, "/%sx/", f->token);
    assert_int_equal(ask(f, "GET", wrong, "127.0.0.1", NULL, 0), 403);
    assert_int_equal(f->answers, 0);
}

static void test_only_names_of_this_machine_are_answered(void **state)
{
    fixture *f = *state;
    char path[100];
    const char *own[] = {"localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:80"};
    const char *others[] = {"evil.example",
                            "localhost.evil.example",
                            "127.0.0.1.evil.example",
                            "evil.example:80",
                            "127.0.0.10",
                            "",
                            NULL};
    snprintf(path, sizeof path, "/%s/", f->token);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_int_equal(ask(f, "GET", path, own[i], NULL, 0), 200);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(ask(f, "GET", path, others[i], NULL, 0) >= 400);
    assert_int_equal(f->answers, sizeof own / sizeof *own);
}

static void test_nothing_but_get_and_head(void **state)
{
    fixture *f = *state;
    char path[100], body[200];
    snprintf(path, sizeof path, "/%s/", f->token);
    assert_int_equal(ask(f, "HEAD", path, "localhost", body, sizeof body), 200);
    assert_string_equal(body, "");
    assert_int_equal(ask(f, "DELETE", path, "localhost", NULL, 0), 405);
    assert_int_equal(ask(f, "OPTIONS", path, "localhost", NULL, 0), 405);
    char text[ANSWER], lines[200];
    snprintf(lines, sizeof lines, "PUT %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
             path);
    answer_to(f, lines, text);
    assert_non_null(strstr(text, "Allow: GET, HEAD"));
    assert_int_equal(f->answers, 1);
}

/* All of 127.0.0.0/8 is this machine, but it listens at one of these addresses alone. */
static void test_it_listens_nowhere_else(void **state)
{
    fixture *f = *state;
    assert_int_equal(connect_to("127.0.0.2", f->port), -1);
    assert_int_equal(errno, ECONNREFUSED);
}

static void *meet(void *f)
{
    assert_int_equal(get(f, "meet", NULL, 0), 200);
    return NULL;
}

static void test_two_clients_are_answered_at_once(void **state)
{
    pthread_t other;
    assert_int_equal(pthread_barrier_init(&meeting, NULL, 2), 0);
    assert_int_equal(pthread_create(&other, NULL, meet, *state), 0);
    meet(*state); /* either would wait for the other for ever */
    pthread_join(other, NULL);
    pthread_barrier_destroy(&meeting);
}

static void test_a_port_that_is_taken_is_refused(void **state)
{
    fixture *f = *state;
    wl_error err = {0};
    atomic_uint answers = 0;
    assert_null(cli_server_start(f->port, answer, &answers, &err));
    assert_non_null(strstr(err.text, "without --port the system chooses one"));
    assert_int_equal(get(f, "", NULL, 0), 200);
}

static void test_each_has_a_token_of_its_own(void **state)
{
    fixture *f = *state, *other;
    start((void **)&other);
    assert_string_not_equal(f->token, other->token);
    assert_int_not_equal(f->port, other->port);
    stop((void **)&other);
}

int main(void)
{
#define SERVED(test) cmocka_unit_test_setup_teardown(test, start, stop)
    const struct CMUnitTest tests[] = {SERVED(test_the_page_is_given),
                                       SERVED(test_answers_are_kept_from_other_pages),
                                       SERVED(test_what_is_not_there_and_what_fails_say_so),
                                       SERVED(test_without_the_token_nothing_is_answered),
                                       SERVED(test_only_names_of_this_machine_are_answered),
                                       SERVED(test_nothing_but_get_and_head),
                                       SERVED(test_it_listens_nowhere_else),
                                       SERVED(test_two_clients_are_answered_at_once),
                                       SERVED(test_a_port_that_is_taken_is_refused),
                                       SERVED(test_each_has_a_token_of_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
