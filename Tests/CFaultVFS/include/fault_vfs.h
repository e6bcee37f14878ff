#pragma once

// A layer over SQLite's default VFS that makes the n-th write, sync, truncation or deletion go wrong, for tests.
//
// Once installed it is the process's default. It lets everything pass but what happens to files whose path begins with
// the prefix that it was armed with.

enum rivulet_fault_mode {
    // The operation fails with an I/O error and does nothing; later ones succeed.
    RIVULET_FAULT_ERROR = 0,
    // The operation fails because the disk is full; later ones succeed.
    RIVULET_FAULT_FULL = 1,
    // The process dies in the middle of the operation: a write puts down a part of its bytes, nothing follows.
    RIVULET_FAULT_TEAR = 2,
    // The power fails: of what was written since each file's last sync, any part is lost, and nothing follows.
    RIVULET_FAULT_POWER = 3,
};

// Makes the layer the default VFS; to be called before files are opened, any number of times.
void rivulet_fault_install(void);

// Keeps from now on what is written to files under this prefix and not synced, whatever is armed, so that a power cut
// that is armed later takes what was written before, too. NULL ends it.
void rivulet_fault_record(const char *prefix);

// From now on the n-th operation (1 is the next) goes wrong in the way of the mode. The seed decides how much of a torn
// write stays and which unsynced writes are lost.
void rivulet_fault_arm(const char *prefix, enum rivulet_fault_mode mode, long n, unsigned long long seed);

// Ends it; answers whether an operation went wrong. Files must be closed before, or what they write now is written.
int rivulet_fault_disarm(void);

// Whether an operation went wrong since the layer was armed, which it stays.
int rivulet_fault_has_fired(void);
