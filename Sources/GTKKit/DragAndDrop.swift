internal import CGtk
package import Foundation

extension Widget {
    /// Takes files and texts that are dropped on the widget.
    package func onDrop(files: @escaping ([String]) -> Void, text: @escaping (String) -> Void) {
        guard let target = gtk_drop_target_new(0, GDK_ACTION_COPY) else { return }
        var types = [gdk_file_list_get_type(), rivulet_type_string()]
        gtk_drop_target_set_gtypes(target, &types, gsize(types.count))
        Signals.connectDrop(UnsafeMutableRawPointer(target)) { value in
            if g_type_check_value_holds(value, gdk_file_list_get_type()) != 0 {
                files(Self.paths(in: value))
                return true
            }
            guard let dropped = g_value_get_string(value) else { return false }
            text(String(cString: dropped))
            return true
        }
        gtk_widget_add_controller(pointer, target)
    }

    private static func paths(in value: UnsafePointer<GValue>) -> [String] {
        guard let boxed = g_value_get_boxed(value) else { return [] }
        let list = gdk_file_list_get_files(OpaquePointer(boxed))
        defer { g_slist_free(list) }
        var paths: [String] = []
        var next = list
        while let item = next {
            if let data = item.pointee.data, let path = g_file_get_path(OpaquePointer(data)) {
                paths.append(String(cString: path))
                g_free(path)
            }
            next = item.pointee.next
        }
        return paths
    }

    /// Lets what lies under the pointer be dragged away; nothing is when the answer is nil.
    package func onDragOut(_ content: @escaping (CGPoint) -> DragContent?) {
        guard let source = gtk_drag_source_new() else { return }
        gtk_drag_source_set_actions(source, GDK_ACTION_COPY)
        Signals.connectDragPrepare(UnsafeMutableRawPointer(source)) { point in
            // A finger that moves scrolls.
            guard rivulet_is_touch(source) == 0 else { return nil }
            return content(point).flatMap { Self.provider(of: $0) }
        }
        gtk_widget_add_controller(pointer, source)
    }

    private static func provider(of content: DragContent) -> OpaquePointer? {
        var value = GValue()
        switch content {
        case .text(let text):
            g_value_init(&value, rivulet_type_string())
            g_value_set_string(&value, text)
        case .picture(let texture):
            g_value_init(&value, gdk_texture_get_type())
            g_value_set_object(&value, UnsafeMutableRawPointer(texture.pointer))
        }
        defer { g_value_unset(&value) }
        return gdk_content_provider_new_for_value(&value).map { OpaquePointer($0) }
    }
}

/// What is dragged to another place or program.
package enum DragContent {
    case text(String)
    case picture(Texture)
}
