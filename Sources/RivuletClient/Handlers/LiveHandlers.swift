public import RivuletWire

/// Sees live messages before any observer.
///
/// Handlers of what is never stored have nothing to keep for the server: their false means *not for the screen*, and
/// no observer and no stream learns of it. They are called on the service's own context, in the order of events, must
/// return soon, and are held weakly.
public protocol IMRTMessageHandler: AnyObject, Sendable {
    /// Takes a live message; false keeps it from observers.
    func handleRTMessage(_ message: RTMessage) -> Bool
}

/// Sees messages of the chat room before any observer; the rules are those of ``IMRTMessageHandler``.
public protocol IMRoomMessageHandler: AnyObject, Sendable {
    /// Takes a message; false keeps it from observers.
    func handleRoomMessage(_ message: RoomMessage) -> Bool
}

/// Sees live texts of the operator before any observer; the rules are those of ``IMRTMessageHandler``.
public protocol IMNotificationHandler: AnyObject, Sendable {
    /// Takes a text; false keeps it from observers.
    func handleNotification(_ text: String) -> Bool
}

/// Sees logins of this account elsewhere before any observer; the rules are those of ``IMRTMessageHandler``.
public protocol IMLoginPointHandler: AnyObject, Sendable {
    /// Takes a login; false keeps it from observers.
    func handleLoginPoint(_ point: LoginPoint) -> Bool
}

/// Sees who comes and goes before any observer; the rules are those of ``IMRTMessageHandler``.
public protocol IMOnlineStateHandler: AnyObject, Sendable {
    /// Takes a state; false keeps it from observers.
    func handleOnlineState(_ state: OnlineState) -> Bool
}

/// Sees signals of calls before any observer; the rules are those of ``IMRTMessageHandler``.
public protocol IMVOIPHandler: AnyObject, Sendable {
    /// Takes a signal; false keeps it from observers.
    func handleVOIPControl(_ control: VOIPControl) -> Bool
}
