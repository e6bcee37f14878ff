#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

// Small inline helpers for what Swift cannot import: the variadic start of a daemon, the union of connection facts, and
// the listening socket, which is made here so that its errors can be told apart.

static const enum MHD_Result httpkit_yes = MHD_YES;
static const enum MHD_Result httpkit_no = MHD_NO;
static const enum MHD_ValueKind httpkit_headers = MHD_HEADER_KIND;
static const enum MHD_ValueKind httpkit_query = MHD_GET_ARGUMENT_KIND;

static inline int httpkit_is_start(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Makes a response with a copy of the body, which may be null when it is empty.
static inline struct MHD_Response *httpkit_response(const void *body, size_t size) {
    static const char nothing[1] = {0};
    if (size == 0) return MHD_create_response_from_buffer(0, (void *)nothing, MHD_RESPMEM_PERSISTENT);
    return MHD_create_response_from_buffer(size, (void *)body, MHD_RESPMEM_MUST_COPY);
}

/// Leaves escapes alone: they are decoded in Swift, where a decoded zero byte cannot shorten a string.
static size_t httpkit_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/// Returns a bound, listening, non-blocking descriptor for a numeric host, or a negative errno.
static inline int httpkit_listen(const char *host, int port, int backlog) {
    struct sockaddr_storage storage;
    socklen_t length;
    memset(&storage, 0, sizeof storage);
    if (strchr(host, ':') != NULL) {
        struct sockaddr_in6 *six = (struct sockaddr_in6 *)&storage;
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((unsigned short)port);
        length = sizeof *six;
        if (inet_pton(AF_INET6, host, &six->sin6_addr) != 1) return -EINVAL;
    } else {
        struct sockaddr_in *four = (struct sockaddr_in *)&storage;
        four->sin_family = AF_INET;
        four->sin_port = htons((unsigned short)port);
        length = sizeof *four;
        if (inet_pton(AF_INET, host, &four->sin_addr) != 1) return -EINVAL;
    }
    int descriptor = socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (descriptor == -1) return -errno;
    int yes = 1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == -1
        || bind(descriptor, (const struct sockaddr *)&storage, length) == -1
        || listen(descriptor, backlog) == -1) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

/// Returns the port of a bound descriptor, or a negative errno.
static inline int httpkit_port(int descriptor) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    if (getsockname(descriptor, (struct sockaddr *)&storage, &length) == -1) return -errno;
    if (storage.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&storage)->sin6_port);
    return ntohs(((struct sockaddr_in *)&storage)->sin_port);
}

static inline void httpkit_close(int descriptor) { close(descriptor); }

/// Breaks a connection off in both directions; its owner notices and closes it.
static inline void httpkit_break_off(int descriptor) { shutdown(descriptor, SHUT_RDWR); }

/// Starts a daemon with one thread of its own on a listening descriptor, which it owns from then on. Returns null on failure.
static inline struct MHD_Daemon *httpkit_start(
    int descriptor, void *context, MHD_AccessHandlerCallback handle, MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback changed, unsigned int connections, unsigned int connections_per_address,
    unsigned int idle_seconds, size_t memory) {
    unsigned int flags = MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC;
    flags |= MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES ? MHD_USE_EPOLL_INTERNAL_THREAD
                                                                     : MHD_USE_POLL_INTERNAL_THREAD;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, handle, context, MHD_OPTION_LISTEN_SOCKET, descriptor,
        MHD_OPTION_NOTIFY_COMPLETED, completed, context, MHD_OPTION_NOTIFY_CONNECTION, changed, context,
        MHD_OPTION_UNESCAPE_CALLBACK, &httpkit_keep_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_PER_IP_CONNECTION_LIMIT, connections_per_address, MHD_OPTION_CONNECTION_TIMEOUT,
        idle_seconds, MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory, MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_END);
}

/// Returns the descriptor of a connection, or -1.
static inline int httpkit_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}
