#pragma once
#include <gtk/gtk.h>
#include <pango/pangocairo.h>
#include <glib-unix.h>
#include <sys/syscall.h>
#include <unistd.h>

// Dispatch's main queue, as seen by another event loop: the descriptor becomes readable when there is work, and the
// callback does it. Dispatch exports both for this purpose and declares them in no public header.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

// A file in memory that has no name, closed when a program is started (1 is MFD_CLOEXEC).
static inline int rivulet_memory_file(void) { return (int)syscall(SYS_memfd_create, "rivulet-sound", 1u); }

// Casts that are function-like macros, which Swift does not import.
static inline GObject *rivulet_object(void *pointer) { return G_OBJECT(pointer); }

// Types that are macros over functions.
static inline GType rivulet_type_scrollable(void) { return GTK_TYPE_SCROLLABLE; }
static inline GType rivulet_type_widget(void) { return GTK_TYPE_WIDGET; }
static inline GType rivulet_type_string(void) { return G_TYPE_STRING; }

// Variadic functions.
static inline void rivulet_set_boolean(void *object, const char *property, int value) {
    g_object_set(object, property, value ? TRUE : FALSE, NULL);
}
static inline void rivulet_set_enum(void *object, const char *property, int value) {
    g_object_set(object, property, value, NULL);
}
static inline char *rivulet_get_string(void *object, const char *property) {
    char *value = NULL;
    g_object_get(object, property, &value, NULL);
    return value;
}
static inline int rivulet_get_int(void *object, const char *property) {
    int value = 0;
    g_object_get(object, property, &value, NULL);
    return value;
}
static inline int rivulet_get_boolean(void *object, const char *property) {
    gboolean value = FALSE;
    g_object_get(object, property, &value, NULL);
    return value;
}
static inline void rivulet_accessible_label(GtkWidget *widget, const char *label) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}
static inline void rivulet_accessible_description(GtkWidget *widget, const char *text) {
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}
static inline void rivulet_accessible_hidden(GtkWidget *widget, int is_hidden) {
    gtk_accessible_update_state(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_STATE_HIDDEN, is_hidden ? TRUE : FALSE, -1);
}

// The structured log passes fields whose names are the caller's; this picks level, domain and message.
static inline void rivulet_log_fields(
    const GLogField *fields, gsize count, const char **domain, const char **message) {
    *domain = "";
    *message = "";
    for (gsize index = 0; index < count; index++) {
        if (g_strcmp0(fields[index].key, "GLIB_DOMAIN") == 0) *domain = (const char *)fields[index].value;
        if (g_strcmp0(fields[index].key, "MESSAGE") == 0) *message = (const char *)fields[index].value;
    }
}

// Masks of modifier keys as plain numbers.
static inline unsigned rivulet_shift_mask(void) { return GDK_SHIFT_MASK; }
static inline unsigned rivulet_control_mask(void) { return GDK_CONTROL_MASK; }

// Whether the pointer behind a gesture's present sequence is a finger.
static inline int rivulet_is_touch(GtkEventController *controller) {
    GdkDevice *device = gtk_event_controller_get_current_event_device(controller);
    return device != NULL && gdk_device_get_source(device) == GDK_SOURCE_TOUCHSCREEN;
}

// Whether this is the thread on which the process began.
static inline int rivulet_is_main_thread(void) { return syscall(SYS_gettid) == getpid(); }
