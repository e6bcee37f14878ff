#pragma once
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#ifdef __linux__
// Declared here and not through _GNU_SOURCE, which would change other declarations that Swift modules share.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
#endif

// Small inline helpers for what Swift cannot import (function-like macros, variadic functions, casts between socket
// address types) and for the listening socket, which is ours: libuv drops waiting connections when descriptors run out.
// Every function that can fail returns a libuv error number, which on POSIX systems is a negated errno.

static inline unsigned long uvkit_thread_id(void) { return (unsigned long)uv_thread_self(); }

static inline int uvkit_start_detached_thread(void *(*entry)(void *), void *argument) {
    pthread_attr_t attributes;
    int result = pthread_attr_init(&attributes);
    if (result != 0) return -result;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    result = pthread_create(&thread, &attributes, entry, argument);
    pthread_attr_destroy(&attributes);
    return -result;
}

static const int uvkit_socket_type_stream = SOCK_STREAM;

static inline void uvkit_ignore_sigpipe(void) { signal(SIGPIPE, SIG_IGN); }

static inline const struct sockaddr *uvkit_address(const struct sockaddr_storage *storage) {
    return (const struct sockaddr *)storage;
}

static inline int uvkit_parse_address(const char *host, int port, struct sockaddr_storage *out) {
    memset(out, 0, sizeof *out);
    if (strchr(host, ':') != NULL) return uv_ip6_addr(host, port, (struct sockaddr_in6 *)out);
    return uv_ip4_addr(host, port, (struct sockaddr_in *)out);
}

/// Writes the numeric host and returns the port, or a negative error.
static inline int uvkit_describe_address(const struct sockaddr *address, char *host, size_t size) {
    int result = uv_ip_name(address, host, size);
    if (result != 0) return result;
    if (address->sa_family == AF_INET) return ntohs(((const struct sockaddr_in *)address)->sin_port);
    return ntohs(((const struct sockaddr_in6 *)address)->sin6_port);
}

static inline socklen_t uvkit_address_length(const struct sockaddr_storage *address) {
    return address->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

static inline int uvkit_make_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags == -1 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == -1) return -errno;
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) == -1) return -errno;
    return 0;
}

/// Returns a bound, listening, non-blocking descriptor, or a negative error.
static inline int uvkit_listen(const struct sockaddr_storage *address, int backlog) {
    int descriptor = socket(address->ss_family, SOCK_STREAM, 0);
    if (descriptor == -1) return -errno;
    int yes = 1;
    if (setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == -1
        || bind(descriptor, (const struct sockaddr *)address, uvkit_address_length(address)) == -1
        || listen(descriptor, backlog) == -1 || uvkit_make_nonblocking(descriptor) != 0) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

/// Returns an accepted non-blocking descriptor, or a negative error.
static inline int uvkit_accept(int listener) {
    int descriptor;
    do {
#ifdef __linux__
        descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
#else
        descriptor = accept(listener, NULL, NULL);
#endif
    } while (descriptor == -1 && errno == EINTR);
    if (descriptor == -1) return -errno;
#ifndef __linux__
    int result = uvkit_make_nonblocking(descriptor);
    if (result != 0) {
        close(descriptor);
        return result;
    }
#endif
    return descriptor;
}

static inline int uvkit_socket_name(int descriptor, struct sockaddr_storage *out) {
    socklen_t length = sizeof *out;
    return getsockname(descriptor, (struct sockaddr *)out, &length) == 0 ? 0 : -errno;
}

static inline int uvkit_peer_name(int descriptor, struct sockaddr_storage *out) {
    socklen_t length = sizeof *out;
    return getpeername(descriptor, (struct sockaddr *)out, &length) == 0 ? 0 : -errno;
}

/// Returns another descriptor of the same socket, or a negative error.
static inline int uvkit_duplicate(int descriptor) {
    int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return copy == -1 ? -errno : copy;
}

static inline void uvkit_close_descriptor(int descriptor) { close(descriptor); }
