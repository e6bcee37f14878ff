#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT and SQLITE_STATIC are casts in macros, which Swift does not import.

// Binds bytes as text or blob; SQLite takes a copy before it returns.
static inline int rivulet_bind_text_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int rivulet_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Binds bytes that the caller keeps in place until the statement is reset or the parameter bound anew.
static inline int rivulet_bind_text_borrowed(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(statement, index, (const char *)bytes, count, SQLITE_STATIC, SQLITE_UTF8);
}
static inline int rivulet_bind_blob_borrowed(sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_STATIC);
}

// sqlite3_db_config is variadic.
static inline int rivulet_set_defensive(sqlite3 *database, int on) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}

#ifdef __linux__
#include <sys/types.h>
// Gives a file room up to a length; not posix_fallocate, which writes where the file system has no such call. The C
// library's own fallocate is declared for _GNU_SOURCE only, which Swift does not set.
extern int fallocate(int descriptor, int mode, off_t offset, off_t length);
static inline int rivulet_allocate(int descriptor, long long length) {
    return sizeof(off_t) == 8 ? fallocate(descriptor, 0, 0, (off_t)length) : -1;
}
#endif
