public import Foundation
internal import GTKKit

/// A field for text of several lines; input methods work in it.
public final class PlatformTextInput: PlatformView {
    private let input: TextInput

    /// Makes an empty field; the name is for assistive technology.
    public init(label: String) {
        input = TextInput()
        super.init(adopting: input)
        input.setMargins(horizontal: 12, vertical: 10)
        input.addStyleClass("rivulet-input")
        input.setInputLabel(label)
    }

    /// The text.
    public var text: String {
        get { input.text }
        set { input.text = newValue }
    }

    /// What assistive technology calls the field.
    public func setLabel(_ label: String) { input.setInputLabel(label) }
    /// Puts text where the cursor is.
    public func insert(_ text: String) { input.insertAtCursor(text) }
    /// Calls the action when the text changed.
    public func onChange(_ action: @escaping () -> Void) { input.onChange(action) }
    /// Calls the action on a key before the field sees it; the answer says whether it is done.
    public func onInputKey(_ action: @escaping (PlatformKey) -> Bool) {
        input.onInputKey { action(PlatformKey($0)) }
    }
    /// Takes the keyboard.
    public func focusText() { input.focusText() }
    /// The height that the text takes at a width.
    public func height(forWidth width: Double) -> Double {
        Double(input.textHeight(forWidth: max(1, Int(width))))
    }
}

/// A field for one line of text.
public final class PlatformTextField: PlatformView {
    private let entry: TextEntry

    /// Makes an empty field with a hint.
    public init(placeholder: String) {
        entry = TextEntry(placeholder: placeholder)
        self.placeholder = placeholder
        super.init(adopting: entry)
        entry.addStyleClass("rivulet-search")
        entry.setAccessibleLabel(placeholder)
    }

    /// The text.
    public var text: String {
        get { entry.text }
        set { entry.text = newValue }
    }

    /// The hint, which is also what assistive technology calls the field.
    public var placeholder: String {
        didSet {
            entry.setPlaceholder(placeholder)
            entry.setAccessibleLabel(placeholder)
        }
    }

    /// Calls the action when the text changed.
    public func onChange(_ action: @escaping () -> Void) { entry.onChange(action) }
}

/// Something to press, drawn as an icon or a text on a round ground.
public final class PlatformButton: PlatformView {
    private let face: PlatformView

    /// Makes a button with a name for assistive technology and the pointer.
    public init(label: String, face: PlatformView, action: @escaping () -> Void) {
        self.face = face
        let button = Button(face.widget, action: action)
        super.init(adopting: button)
        button.addStyleClass("rivulet-button")
        button.setAccessibleLabel(label)
        button.setTooltip(label)
        face.isUserInteractionEnabled = false
    }

    /// Whether the button can be pressed.
    public var isEnabled: Bool {
        get { widget.isSensitive }
        set {
            widget.isSensitive = newValue
            face.alpha = newValue ? 1 : 0.4
        }
    }
}

/// A menu of the system over a view.
public enum PlatformMenu {
    /// One entry.
    public struct Item {
        /// What it is called.
        public var title: String
        /// Whether it is chosen, with a mark in front of it; nil for an entry that is no choice.
        public var isChosen: Bool?
        /// What it does.
        public var action: () -> Void

        /// Makes an entry.
        public init(title: String, isChosen: Bool? = nil, action: @escaping () -> Void) {
            self.title = title
            self.isChosen = isChosen
            self.action = action
        }
    }

    private static var open: PopupMenu?
    private static var closing: [PopupMenu] = []

    /// Whether a menu is open.
    public static var isOpen: Bool { open != nil }

    /// Shows a menu at a place of a view.
    public static func show(
        _ items: [Item], on view: PlatformView, at rect: CGRect, onClose: @escaping () -> Void = {}
    ) {
        dismiss()
        let menu = PopupMenu(
            items.map {
                PopupMenu.Item(
                    title: $0.title, isChosen: $0.isChosen, action: $0.action
                )
            }, on: view.widget, at: rect
        ) {
            if let open { closing.append(open) }
            open = nil
            onClose()
            // The chosen action is performed after the menu closed and needs it until then.
            Task {
                for menu in closing { menu.remove() }
                closing = []
            }
        }
        open = menu
        menu.open()
    }

    /// Closes the menu at once, as when the view under it goes.
    public static func dismiss() {
        open?.remove()
        open = nil
    }

    static func placeAgain() {
        open?.present()
    }
}
