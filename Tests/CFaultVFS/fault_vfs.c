#include "fault_vfs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What a write replaced, so that losing it can be acted out. The newest comes first.
typedef struct Undo {
    struct Undo *next;
    char *path;
    sqlite3_int64 offset;
    sqlite3_int64 old_size;
    int count;
    char *old_bytes;
} Undo;

typedef struct {
    sqlite3_file base;
    sqlite3_file *real;
    char *path;
} FaultFile;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sqlite3_vfs *real_vfs;
static sqlite3_vfs fault_vfs;
static char *armed_prefix;
static char *recorded_prefix;
static enum rivulet_fault_mode armed_mode;
static long operations_left;
static int has_fired;
static int is_dead;
static unsigned long long random_state;
static Undo *undo_list;

static unsigned long long next_random(void) {
    random_state += 0x9E3779B97F4A7C15ull;
    unsigned long long value = random_state;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ull;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBull;
    return value ^ (value >> 31);
}

static int is_under(const char *path, const char *prefix) {
    return prefix && path && strncmp(path, prefix, strlen(prefix)) == 0;
}

static int is_watched(const char *path) { return is_under(path, armed_prefix); }

static int is_recorded(const char *path) {
    return is_under(path, recorded_prefix) || (armed_mode == RIVULET_FAULT_POWER && is_watched(path));
}

static void forget(const char *path) {
    Undo **link = &undo_list;
    while (*link) {
        Undo *entry = *link;
        if (path == NULL || strcmp(entry->path, path) == 0) {
            *link = entry->next;
            free(entry->path);
            free(entry->old_bytes);
            free(entry);
        } else {
            link = &entry->next;
        }
    }
}

// What is recorded for a later power cut stays when nothing is armed.
static void forget_armed(void) {
    if (!recorded_prefix) forget(NULL);
}

static void remember(FaultFile *file, sqlite3_int64 offset, int count) {
    if (!is_recorded(file->path)) return;
    Undo *entry = calloc(1, sizeof(Undo));
    if (!entry) return;
    entry->path = strdup(file->path);
    entry->offset = offset;
    file->real->pMethods->xFileSize(file->real, &entry->old_size);
    if (offset < entry->old_size) {
        sqlite3_int64 rest = entry->old_size - offset;
        entry->count = rest < count ? (int)rest : count;
        entry->old_bytes = malloc(entry->count);
        file->real->pMethods->xRead(file->real, entry->old_bytes, entry->count, offset);
    }
    entry->next = undo_list;
    undo_list = entry;
}

// Takes back any of the writes that no sync has made safe.
static void lose_power(void) {
    for (Undo *entry = undo_list; entry; entry = entry->next) {
        if (!is_watched(entry->path) || next_random() % 2) continue;
        int descriptor = open(entry->path, O_WRONLY | O_CLOEXEC);
        if (descriptor < 0) continue;
        if (entry->count > 0 && pwrite(descriptor, entry->old_bytes, entry->count, entry->offset) < 0) { /* as lost */ }
        if (ftruncate(descriptor, entry->old_size) < 0) { /* as lost */ }
        close(descriptor);
    }
    // What is left of the files is what the next start finds.
    Undo **link = &undo_list;
    while (*link) {
        char *path = is_watched((*link)->path) ? strdup((*link)->path) : NULL;
        if (path) {
            forget(path);
            free(path);
            link = &undo_list;
        } else {
            link = &(*link)->next;
        }
    }
}

// Counts an operation; answers whether it is the one that goes wrong, or comes after the end.
enum verdict { PASS, FAIL, DIE };
static enum verdict count_operation(void) {
    if (is_dead) return FAIL;
    if (operations_left <= 0 || --operations_left > 0) return PASS;
    has_fired = 1;
    if (armed_mode == RIVULET_FAULT_ERROR || armed_mode == RIVULET_FAULT_FULL) return FAIL;
    is_dead = 1;
    return DIE;
}

static int failure(int code) {
    return armed_mode == RIVULET_FAULT_FULL ? SQLITE_FULL : code;
}

// MARK: Files

static int file_close(sqlite3_file *base) {
    FaultFile *file = (FaultFile *)base;
    int result = file->real->pMethods->xClose(file->real);
    free(file->path);
    file->path = NULL;
    return result;
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    FaultFile *file = (FaultFile *)base;
    return file->real->pMethods->xRead(file->real, bytes, count, offset);
}

static int file_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    FaultFile *file = (FaultFile *)base;
    pthread_mutex_lock(&lock);
    enum verdict verdict = is_watched(file->path) ? count_operation() : PASS;
    int result = SQLITE_OK;
    if (verdict == DIE) {
        int part = (int)(next_random() % (unsigned)(count + 1));
        if (part > 0) {
            remember(file, offset, part);
            file->real->pMethods->xWrite(file->real, bytes, part, offset);
        }
        if (armed_mode == RIVULET_FAULT_POWER) lose_power();
    } else if (verdict == PASS) {
        remember(file, offset, count);
        result = file->real->pMethods->xWrite(file->real, bytes, count, offset);
    }
    if (verdict != PASS) result = failure(SQLITE_IOERR_WRITE);
    pthread_mutex_unlock(&lock);
    return result;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    FaultFile *file = (FaultFile *)base;
    pthread_mutex_lock(&lock);
    enum verdict verdict = is_watched(file->path) ? count_operation() : PASS;
    int result = SQLITE_OK;
    if (verdict == PASS) {
        if (is_recorded(file->path)) {
            sqlite3_int64 old = 0;
            file->real->pMethods->xFileSize(file->real, &old);
            if (old > size) remember(file, size, (int)(old - size));
        }
        result = file->real->pMethods->xTruncate(file->real, size);
    } else {
        if (verdict == DIE && armed_mode == RIVULET_FAULT_POWER) lose_power();
        result = failure(SQLITE_IOERR_TRUNCATE);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static int file_sync(sqlite3_file *base, int flags) {
    FaultFile *file = (FaultFile *)base;
    pthread_mutex_lock(&lock);
    enum verdict verdict = is_watched(file->path) ? count_operation() : PASS;
    int result = SQLITE_OK;
    if (verdict == PASS) {
        result = file->real->pMethods->xSync(file->real, flags);
        if (result == SQLITE_OK) forget(file->path);
    } else {
        if (verdict == DIE && armed_mode == RIVULET_FAULT_POWER) lose_power();
        result = failure(SQLITE_IOERR_FSYNC);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

#define REAL (((FaultFile *)base)->real)
static int file_size(sqlite3_file *base, sqlite3_int64 *size) { return REAL->pMethods->xFileSize(REAL, size); }
static int file_lock(sqlite3_file *base, int level) { return REAL->pMethods->xLock(REAL, level); }
static int file_unlock(sqlite3_file *base, int level) { return REAL->pMethods->xUnlock(REAL, level); }
static int file_reserved(sqlite3_file *base, int *out) { return REAL->pMethods->xCheckReservedLock(REAL, out); }
static int file_control(sqlite3_file *base, int op, void *arg) { return REAL->pMethods->xFileControl(REAL, op, arg); }
static int file_sector(sqlite3_file *base) { return REAL->pMethods->xSectorSize(REAL); }
static int file_traits(sqlite3_file *base) { return REAL->pMethods->xDeviceCharacteristics(REAL); }
static int shm_map(sqlite3_file *base, int page, int size, int extend, void volatile **out) {
    return REAL->pMethods->xShmMap(REAL, page, size, extend, out);
}
static int shm_lock(sqlite3_file *base, int offset, int n, int flags) {
    return REAL->pMethods->xShmLock(REAL, offset, n, flags);
}
static void shm_barrier(sqlite3_file *base) { REAL->pMethods->xShmBarrier(REAL); }
static int shm_unmap(sqlite3_file *base, int delete_it) { return REAL->pMethods->xShmUnmap(REAL, delete_it); }

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

// MARK: The VFS

static int vfs_open(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *base, int flags, int *out) {
    (void)vfs;
    FaultFile *file = (FaultFile *)base;
    memset(file, 0, sizeof(FaultFile));
    file->real = (sqlite3_file *)(file + 1);
    int result = real_vfs->xOpen(real_vfs, name, file->real, flags, out);
    if (file->real->pMethods) {
        file->path = name ? strdup(name) : NULL;
        file->base.pMethods = &methods;
    }
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync) {
    (void)vfs;
    pthread_mutex_lock(&lock);
    enum verdict verdict = is_watched(name) ? count_operation() : PASS;
    if (verdict == PASS) forget(name);
    if (verdict == DIE && armed_mode == RIVULET_FAULT_POWER) lose_power();
    pthread_mutex_unlock(&lock);
    return verdict == PASS ? real_vfs->xDelete(real_vfs, name, sync) : SQLITE_IOERR_DELETE;
}

void rivulet_fault_install(void) {
    pthread_mutex_lock(&lock);
    if (!real_vfs) {
        real_vfs = sqlite3_vfs_find(NULL);
        // All but opening and deleting is the real one's, which looks only at its own fields that come along.
        fault_vfs = *real_vfs;
        fault_vfs.pNext = NULL;
        fault_vfs.zName = "rivulet-faults";
        fault_vfs.szOsFile = (int)sizeof(FaultFile) + real_vfs->szOsFile;
        fault_vfs.xOpen = vfs_open;
        fault_vfs.xDelete = vfs_delete;
        sqlite3_vfs_register(&fault_vfs, 1);
    }
    pthread_mutex_unlock(&lock);
}

void rivulet_fault_record(const char *prefix) {
    pthread_mutex_lock(&lock);
    free(recorded_prefix);
    recorded_prefix = prefix ? strdup(prefix) : NULL;
    forget(NULL);
    pthread_mutex_unlock(&lock);
}

void rivulet_fault_arm(const char *prefix, enum rivulet_fault_mode mode, long n, unsigned long long seed) {
    pthread_mutex_lock(&lock);
    free(armed_prefix);
    forget_armed();
    armed_prefix = strdup(prefix);
    armed_mode = mode;
    operations_left = n;
    has_fired = 0;
    is_dead = 0;
    random_state = seed;
    pthread_mutex_unlock(&lock);
}

int rivulet_fault_disarm(void) {
    pthread_mutex_lock(&lock);
    free(armed_prefix);
    armed_prefix = NULL;
    forget_armed();
    is_dead = 0;
    int fired = has_fired;
    pthread_mutex_unlock(&lock);
    return fired;
}

int rivulet_fault_has_fired(void) {
    pthread_mutex_lock(&lock);
    int fired = has_fired;
    pthread_mutex_unlock(&lock);
    return fired;
}
