#pragma once
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>

// Small inline helpers for what Swift cannot import: function-like macros, and sequences of calls that belong together.

/// Refuses to ask a person for a passphrase, which would hold a server for ever.
static int tlskit_no_passphrase(char *buffer, int size, int writing, void *context) {
    (void)buffer;
    (void)size;
    (void)writing;
    (void)context;
    return -1;
}

/// Returns a context with this project's rules, or null.
static inline SSL_CTX *tlskit_context(int is_server) {
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (context == NULL) return NULL;
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_default_passwd_cb(context, tlskit_no_passphrase);
    if (SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1) {
        SSL_CTX_free(context);
        return NULL;
    }
    return context;
}

static inline void tlskit_verify_peer(SSL_CTX *context) { SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL); }

static inline void tlskit_keep_sessions(SSL_CTX *context, int (*callback)(SSL *, SSL_SESSION *)) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, callback);
}

static inline int tlskit_allow_resumption(SSL_CTX *context) {
    static const unsigned char name[] = "rivulet";
    return SSL_CTX_set_session_id_context(context, name, sizeof name - 1);
}

static inline void tlskit_set_owner(SSL *ssl, void *owner) { SSL_set_app_data(ssl, owner); }
static inline void *tlskit_owner(SSL *ssl) { return SSL_get_app_data(ssl); }

/// Puts a pair of memory buffers under the connection, which owns them. Returns 0 on failure.
static inline int tlskit_use_memory(SSL *ssl) {
    BIO *input = BIO_new(BIO_s_mem());
    BIO *output = BIO_new(BIO_s_mem());
    if (input == NULL || output == NULL) {
        BIO_free(input);
        BIO_free(output);
        return 0;
    }
    BIO_set_mem_eof_return(input, -1);
    SSL_set_bio(ssl, input, output);
    return 1;
}

/// Says whom the certificate must name: a host, or a numeric address. Returns 0 on failure.
static inline int tlskit_expect(SSL *ssl, const char *host) {
    X509_VERIFY_PARAM *rules = SSL_get0_param(ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, host) == 1) return 1;
    ERR_clear_error();
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static inline int tlskit_was_resumed(SSL *ssl) { return SSL_session_reused(ssl); }

/// Writes the SHA-256 of the peer's public key (its SubjectPublicKeyInfo). Returns 0 when there is none.
static inline int tlskit_peer_key_digest(SSL *ssl, unsigned char digest[32]) {
    X509 *certificate = SSL_get0_peer_certificate(ssl);
    if (certificate == NULL) return 0;
    unsigned char *encoded = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &encoded);
    if (length <= 0) return 0;
    unsigned int size = 32;
    int result = EVP_Digest(encoded, (size_t)length, digest, &size, EVP_sha256(), NULL);
    OPENSSL_free(encoded);
    return result;
}

static inline int tlskit_sha256(const void *bytes, size_t count, unsigned char digest[32]) {
    unsigned int size = 32;
    return EVP_Digest(bytes, count, digest, &size, EVP_sha256(), NULL);
}

/// The reason of an error number; alerts of the peer are above 1000.
static inline int tlskit_reason(unsigned long error) { return ERR_GET_REASON(error); }

static inline int tlskit_is_system_error(unsigned long error) { return ERR_SYSTEM_ERROR(error) ? 1 : 0; }

static const int tlskit_reason_wrong_version = SSL_R_WRONG_VERSION_NUMBER;
static const int tlskit_reason_http = SSL_R_HTTP_REQUEST;
static const int tlskit_reason_unsupported = SSL_R_UNSUPPORTED_PROTOCOL;
static const int tlskit_reason_verify_failed = SSL_R_CERTIFICATE_VERIFY_FAILED;
static const int tlskit_alert_offset = SSL_AD_REASON_OFFSET;
static const int tlskit_alert_version = SSL_R_TLSV1_ALERT_PROTOCOL_VERSION;
