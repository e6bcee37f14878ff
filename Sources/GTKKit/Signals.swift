internal import CGtk
internal import Foundation

/// A closure that C holds: retained while it is connected, released by GLib's destroy notification.
final class Callback<Input, Output> {
    let action: (Input) -> Output

    init(_ action: @escaping (Input) -> Output) {
        self.action = action
    }
}

/// Connects closures to signals; a closure lives as long as its connection.
enum Signals {
    /// A signal without arguments; the last one hears of it after all others.
    static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, isLast: Bool = false,
        _ action: @escaping () -> Void
    ) {
        let handler: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> Void = {
            _, data in
            Signals.call(data, (), as: Void.self)
        }
        attach(
            object, signal, unsafeBitCast(handler, to: GCallback.self), Callback<Void, Void> { action() },
            isLast: isLast)
    }

    /// A signal with a property specification, such as `notify::focused`.
    static func connectNotify(
        _ object: UnsafeMutableRawPointer, _ property: String, _ action: @escaping () -> Void
    ) {
        let handler:
            @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) ->
                Void = { _, _, data in Signals.call(data, (), as: Void.self) }
        attach(
            object, "notify::" + property, unsafeBitCast(handler, to: GCallback.self),
            Callback<Void, Void> { action() })
    }

    /// A signal with two numbers.
    static func connectPoint(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping (CGPoint) -> Void
    ) {
        let handler:
            @convention(c) (UnsafeMutableRawPointer?, Double, Double, UnsafeMutableRawPointer?) -> Void = {
                _, x, y, data in Signals.call(data, CGPoint(x: x, y: y), as: Void.self)
            }
        attach(object, signal, unsafeBitCast(handler, to: GCallback.self), Callback<CGPoint, Void>(action))
    }

    /// A signal with a count and two numbers, as that of a click.
    static func connectClick(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping (Int, CGPoint) -> Void
    ) {
        let handler:
            @convention(c) (UnsafeMutableRawPointer?, Int32, Double, Double, UnsafeMutableRawPointer?) -> Void =
                {
                    _, count, x, y, data in
                    Signals.call(data, (Int(count), CGPoint(x: x, y: y)), as: Void.self)
                }
        attach(
            object, signal, unsafeBitCast(handler, to: GCallback.self),
            Callback<(Int, CGPoint), Void> { action($0.0, $0.1) })
    }

    /// The signal of a key; the answer says whether it is dealt with.
    static func connectKey(
        _ object: UnsafeMutableRawPointer, _ action: @escaping (KeyPress) -> Bool
    ) {
        let handler:
            @convention(c) (UnsafeMutableRawPointer?, guint, guint, guint, UnsafeMutableRawPointer?) ->
                gboolean = { _, value, _, modifiers, data in
                    let press = KeyPress(value: value, modifiers: modifiers)
                    return Signals.call(data, press, as: Bool.self) == true ? 1 : 0
                }
        attach(
            object, "key-pressed", unsafeBitCast(handler, to: GCallback.self),
            Callback<KeyPress, Bool>(action))
    }

    /// A signal whose answer says whether it is dealt with.
    static func connectRequest(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ action: @escaping () -> Bool
    ) {
        let handler: @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) -> gboolean = {
            _, data in
            Signals.call(data, (), as: Bool.self) == true ? 1 : 0
        }
        attach(object, signal, unsafeBitCast(handler, to: GCallback.self), Callback<Void, Bool> { action() })
    }

    /// The activation of a menu's action, which carries a value that is not looked at.
    static func connectActivate(_ object: UnsafeMutableRawPointer, _ action: @escaping () -> Void) {
        let handler:
            @convention(c) (UnsafeMutableRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?) ->
                Void = { _, _, data in Signals.call(data, (), as: Void.self) }
        attach(
            object, "activate", unsafeBitCast(handler, to: GCallback.self), Callback<Void, Void> { action() })
    }

    /// The answer to a dialog.
    static func connectResponse(_ object: UnsafeMutableRawPointer, _ action: @escaping (Int32) -> Void) {
        let handler: @convention(c) (UnsafeMutableRawPointer?, gint, UnsafeMutableRawPointer?) -> Void = {
            _, response, data in Signals.call(data, response, as: Void.self)
        }
        attach(
            object, "response", unsafeBitCast(handler, to: GCallback.self), Callback<Int32, Void>(action))
    }

    /// Something that was dropped; the answer says whether it was taken.
    static func connectDrop(
        _ object: UnsafeMutableRawPointer, _ action: @escaping (UnsafePointer<GValue>) -> Bool
    ) {
        let handler:
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<GValue>?, Double, Double, UnsafeMutableRawPointer?
            ) -> gboolean = { _, value, _, _, data in
                guard let value else { return 0 }
                return Signals.call(data, value, as: Bool.self) == true ? 1 : 0
            }
        attach(
            object, "drop", unsafeBitCast(handler, to: GCallback.self),
            Callback<UnsafePointer<GValue>, Bool>(action))
    }

    /// The moment before something is dragged away; the answer is what it is, and becomes the receiver's.
    static func connectDragPrepare(
        _ object: UnsafeMutableRawPointer, _ action: @escaping (CGPoint) -> OpaquePointer?
    ) {
        let handler:
            @convention(c) (UnsafeMutableRawPointer?, Double, Double, UnsafeMutableRawPointer?) ->
                OpaquePointer? = { _, x, y, data in
                    Signals.call(data, CGPoint(x: x, y: y), as: OpaquePointer?.self) ?? nil
                }
        attach(
            object, "prepare", unsafeBitCast(handler, to: GCallback.self),
            Callback<CGPoint, OpaquePointer?>(action))
    }

    // MARK: the ways to C

    private static func attach(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback?, _ box: AnyObject,
        isLast: Bool = false
    ) {
        g_signal_connect_data(
            object, signal, handler, Unmanaged.passRetained(box).toOpaque(),
            { data, _ in
                if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
            }, isLast ? G_CONNECT_AFTER : GConnectFlags(rawValue: 0))
    }

    @discardableResult
    fileprivate static func call<Input, Output>(
        _ data: UnsafeMutableRawPointer?, _ input: Input, as: Output.Type
    ) -> Output? {
        guard let data else { return nil }
        return Unmanaged<Callback<Input, Output>>.fromOpaque(data).takeUnretainedValue().action(input)
    }
}
