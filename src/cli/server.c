/* The web server: who may ask, and for what. Others on this machine can connect, and so can any page
 * that the browser shows, but neither knows the token; and the name that a page connects by must be
 * this machine's own, or a page from elsewhere could have its name lead here. */
#include "cli/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

enum { TOKEN_BYTES = 16, CONNECTIONS = 128, IDLE_SECONDS = 60 };

struct cli_server {
    struct MHD_Daemon *daemon;
    cli_answer *answer;
    void *ctx;
    char token[2 * TOKEN_BYTES + 1];
    char url[64 + 2 * TOKEN_BYTES];
};

/* ---- who may ask ---- */

/* The host of a request, without its port, is this machine. */
static bool is_own_host(const char *host)
{
    static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
    for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) == 0 &&
            (host[length] == '\0' || host[length] == ':'))
            return true;
    }
    return false;
}

/* What follows "/TOKEN/"; NULL where the token is another. Takes as long wherever they differ. */
static const char *path_below_token(const cli_server *server, const char *url)
{
    size_t length = 2 * TOKEN_BYTES;
    if (strlen(url) < length + 2 || url[0] != '/' || url[length + 1] != '/')
        return NULL;
    unsigned char differs = 0;
    for (size_t i = 0; i < length; i++)
        differs |= (unsigned char)(url[i + 1] ^ server->token[i]);
    return differs ? NULL : url + length + 2;
}

/* ---- answers ---- */

static enum MHD_Result send_response(struct MHD_Connection *connection, unsigned status,
                                     const char *type, char *body, size_t size)
{
    static const char *const headers[][2] = {{"Cache-Control", "no-store"},
                                             {"Content-Security-Policy", "frame-ancestors 'none'"},
                                             {"Cross-Origin-Resource-Policy", "same-origin"},
                                             {"Referrer-Policy", "no-referrer"},
                                             {"X-Content-Type-Options", "nosniff"}};
    struct MHD_Response *response = MHD_create_response_from_buffer(size, body,
                                                                    MHD_RESPMEM_MUST_FREE);
    if (!response) {
        free(body);
        return MHD_NO;
    }
    MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        MHD_add_response_header(response, headers[i][0], headers[i][1]);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    enum MHD_Result sent = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned status,
                                 const char *text)
{
    char *body = strdup(text);
    return body ? send_response(connection, status, "text/plain; charset=utf-8", body, strlen(body))
                : MHD_NO;
}

static enum MHD_Result send_answer(const cli_server *server, struct MHD_Connection *connection,
                                   const char *path)
{
    char *body = NULL;
    size_t size = 0;
    const char *type = "application/octet-stream";
    wl_error err = {0};
    FILE *out = open_memstream(&body, &size);
    wl_status status = out ? server->answer(server->ctx, path, out, &type, &err)
                           : wl_fail(&err, WL_NOMEM, "out of memory");
    if (out && fclose(out) != 0 && status == WL_OK)
        status = wl_fail(&err, WL_NOMEM, "not enough memory for this answer");
    if (status == WL_OK)
        return send_response(connection, MHD_HTTP_OK, type, body, size);
    free(body);
    return send_text(connection,
                     status == WL_NOENT ? MHD_HTTP_NOT_FOUND : MHD_HTTP_INTERNAL_SERVER_ERROR,
                     err.text);
}

static enum MHD_Result answer_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data,
                                      size_t *data_size, void **state)
{
    const cli_server *server = ctx;
    (void)version, (void)data, (void)state;
    const char *host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                   MHD_HTTP_HEADER_HOST);
    const char *path = path_below_token(server, url);
    *data_size = 0; /* what a request carries is not looked at */
    if (!is_own_host(host))
        return send_text(connection, MHD_HTTP_FORBIDDEN,
                         "Only localhost and 127.0.0.1 are answered as names of this machine.\n");
    if (!path)
        return send_text(connection, MHD_HTTP_FORBIDDEN,
                         "This is not the address that warplens explore printed: it holds a token, "
                         "without which nothing is answered.\n");
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET is answered.\n");
    return send_answer(server, connection, path);
}

/* ---- start and end ---- */

static bool draw_token(char *token)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static struct MHD_Daemon *listen_locally(cli_server *server, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, port,
                            NULL, NULL, answer_request, server, MHD_OPTION_SOCK_ADDR, &address,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
}

cli_server *cli_server_start(uint16_t port, cli_answer *answer, void *ctx, wl_error *err)
{
    cli_server *server = calloc(1, sizeof *server);
    if (!server || !draw_token(server->token)) {
        free(server);
        wl_fail(err, WL_NOMEM, "cannot draw a random token for the address of the explorer");
        return NULL;
    }
    server->answer = answer;
    server->ctx = ctx;
    errno = 0;
    server->daemon = listen_locally(server, port);
    const union MHD_DaemonInfo *info = server->daemon
                                           ? MHD_get_daemon_info(server->daemon,
                                                                 MHD_DAEMON_INFO_BIND_PORT)
                                           : NULL;
    if (!info) {
        wl_fail_errno(err, "cannot listen on 127.0.0.1, port %u%s", port,
                      port ? "; without --port the system chooses one that is free" : "");
        cli_server_stop(server);
        return NULL;
    }
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u/%s/", info->port, server->token);
    return server;
}

const char *cli_server_url(const cli_server *server)
{
    return server->url;
}

void cli_server_stop(cli_server *server)
{
    if (server && server->daemon)
        MHD_stop_daemon(server->daemon);
    free(server);
}
