import Foundation
import RivuletUI

/// Applies the user's choices to the whole program, and keeps them.
final class SettingsDesk {
    /// Hears that the interface looks otherwise.
    var onChange: (() -> Void)?
    var onProblem: ((String) -> Void)?

    private(set) var settings: ChatSettings
    private let path: String
    /// The look that the desktop asks for, or the command line in its place.
    private let standard: Theme

    /// Reads the choices of the last time.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - standard: The look unless one was chosen.
    init(path: String, standard: Theme) {
        self.path = path
        self.standard = standard
        settings = ChatSettings.read(from: path)
    }

    /// Makes the program look as was chosen.
    func apply() {
        PlatformApplication.textZoom = Double(settings.textPercent) / 100
        Theme.isStrong = settings.isStrong
        switch settings.look {
        case .system: Theme.use(standard)
        case .light: Theme.use(.light)
        case .dark: Theme.use(.dark)
        }
    }

    /// Changes a choice, which counts at once and is kept.
    func change(_ edit: (inout ChatSettings) -> Void) {
        var changed = settings
        edit(&changed)
        guard changed != settings else { return }
        settings = changed
        do {
            try changed.write(to: path)
        } catch {
            onProblem?(Words.say("Your choice counts until the program ends; it could not be kept."))
        }
        apply()
        onChange?()
    }

    /// The looks as entries of a menu.
    func menuItems() -> [PlatformMenu.Item] {
        let looks: [(ChatSettings.Look, String)] = [
            (.system, Words.say("Follow the desktop")), (.light, Words.say("Light")),
            (.dark, Words.say("Dark")),
        ]
        var items = looks.map { look, title in
            PlatformMenu.Item(title: title, isChosen: settings.look == look) { [weak self] in
                self?.change { $0.look = look }
            }
        }
        items.append(
            PlatformMenu.Item(title: Words.say("Strong contrast"), isChosen: settings.isStrong) {
                [weak self] in
                self?.change { $0.isStrong.toggle() }
            })
        return items
    }

    /// The sizes of text as entries of a menu.
    func textItems() -> [PlatformMenu.Item] {
        ChatSettings.textPercents.map { percent in
            PlatformMenu.Item(title: "\(percent) %", isChosen: settings.textPercent == percent) {
                [weak self] in
                self?.change { $0.textPercent = percent }
            }
        }
    }
}
