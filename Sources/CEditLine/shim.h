#pragma once
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <histedit.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

// Declared here and not through a feature macro, which would change other declarations that Swift modules share.
extern int wcwidth(wchar_t character);

// libedit's setters are variadic, which Swift cannot call; these are the ones in use.

static inline void editkit_set_prompt(EditLine *editor, char *(*prompt)(EditLine *)) {
    el_set(editor, EL_PROMPT, prompt);
}
static inline void editkit_set_reader(EditLine *editor, el_rfunc_t reader) { el_wset(editor, EL_GETCFN, reader); }
static inline void editkit_set_emacs(EditLine *editor) { el_set(editor, EL_EDITOR, "emacs"); }
static inline void editkit_set_data(EditLine *editor, void *data) { el_set(editor, EL_CLIENTDATA, data); }
static inline void *editkit_get_data(EditLine *editor) {
    void *data = NULL;
    el_get(editor, EL_CLIENTDATA, &data);
    return data;
}
static inline void editkit_refresh(EditLine *editor) { el_set(editor, EL_REFRESH); }
static inline void editkit_prepare_terminal(EditLine *editor, int on) { el_set(editor, EL_PREP_TERM, on); }

static inline void editkit_use_history(EditLine *editor, History *list, int size) {
    HistEvent event;
    history(list, &event, H_SETSIZE, size);
    history(list, &event, H_SETUNIQUE, 1);
    el_set(editor, EL_HIST, history, list);
}
static inline void editkit_add_history(History *list, const char *line) {
    HistEvent event;
    history(list, &event, H_ENTER, line);
}

static inline int editkit_columns(int descriptor) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    return 80;
}

/// Chooses the user's character set, or UTF-8 where the user has none that can show everything.
static inline void editkit_use_utf8(void) {
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

static inline int editkit_make_pipe(int ends[2]) {
    if (pipe(ends) == -1) return -errno;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) | O_NONBLOCK);
    }
    return 0;
}

/// Waits until one of two descriptors can be read: 1 the first, 2 the second, 3 both, or a negative error.
static inline int editkit_wait(int first, int second) {
    struct pollfd list[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
    if (poll(list, 2, -1) == -1) return -errno;
    return (list[0].revents ? 1 : 0) | (list[1].revents ? 2 : 0);
}

static inline long editkit_read(int descriptor, void *buffer, unsigned long count) {
    long result = read(descriptor, buffer, count);
    return result == -1 ? -errno : result;
}

static inline void editkit_write_all(int descriptor, const void *bytes, unsigned long count) {
    const char *next = bytes;
    while (count > 0) {
        long written = write(descriptor, next, count);
        if (written == -1) {
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return;
            struct pollfd ready = {descriptor, POLLOUT, 0};
            poll(&ready, 1, -1);
            continue;
        }
        next += written;
        count -= (unsigned long)written;
    }
}

/// Installs a handler, or the default effect for NULL; the old one is kept in `old` unless that is NULL.
static inline void editkit_handle(int number, void (*handler)(int), struct sigaction *old) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler == NULL ? SIG_DFL : handler;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, old);
}
static inline void editkit_restore(int number, const struct sigaction *old) { sigaction(number, old, NULL); }

/// Writes one byte and leaves errno alone, as a signal handler must.
static inline void editkit_signal_byte(int descriptor, char byte) {
    int saved = errno;
    long result = write(descriptor, &byte, 1);
    (void)result;
    errno = saved;
}
