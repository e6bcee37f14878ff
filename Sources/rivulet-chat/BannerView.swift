import Foundation
import RivuletClientCore
import RivuletUI

typealias ConnectionStateName = ConnectionState

/// Says what is wrong with the connection, or with something that the user just did.
final class BannerView: PlatformView {
    private var text: PlatformText?
    private var connectionWords = ""
    private var delay: Task<Void, Never>?
    private var problem: Task<Void, Never>?

    init() {
        super.init(role: .alert)
        isUserInteractionEnabled = false
    }

    func show(_ state: ConnectionStateName) {
        delay?.cancel()
        let words = Self.words(for: state)
        guard !words.isEmpty else {
            connectionWords = ""
            return present("")
        }
        // A moment without a connection is no news.
        delay = Task { [weak self] in
            do { try await Task.sleep(for: .milliseconds(800)) } catch { return }
            self?.connectionWords = words
            self?.present(words)
        }
    }

    func showProblem(_ words: String, _ changed: @escaping () -> Void) {
        problem?.cancel()
        present(words)
        problem = Task { [weak self] in
            do { try await Task.sleep(for: .seconds(4)) } catch { return }
            guard let self else { return }
            self.present(self.connectionWords)
            changed()
        }
    }

    private static func words(for state: ConnectionStateName) -> String {
        switch state {
        case .authenticated, .connected: ""
        case .kicked: Words.say("Another device took over this account.")
        case .connecting: Words.say("Connecting …")
        case .authenticationFail: Words.say("The server does not accept this account’s token.")
        default: Words.say("No connection. Messages go out when it is back.")
        }
    }

    private func present(_ words: String) {
        isHidden = words.isEmpty
        accessibilityLabel = words
        text =
            words.isEmpty
            ? nil
            : PlatformText(
                words, style: PlatformTextStyle(size: 13, lineHeight: 18, lineCountMax: 1), width: 396)
        setNeedsDisplay()
    }

    override func draw(_ canvas: PlatformCanvas) {
        guard let text else { return }
        let theme = Theme.current
        let width = min(bounds.width, text.size.width + 32)
        let rect = CGRect(x: ((bounds.width - width) / 2).rounded(), y: 4, width: width, height: 32)
        canvas.shadow(rect, corners: PlatformCorners(16), PlatformColor(0, alpha: 0.2), dy: 1, blur: 4)
        canvas.fill(rect, corners: PlatformCorners(16), theme.isDark ? theme.incomingBubble : theme.text)
        canvas.draw(
            text, at: CGPoint(x: rect.minX + 16, y: rect.minY + 7), theme.isDark ? theme.text : theme.window)
    }
}
