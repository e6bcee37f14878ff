import RivuletUI

nonisolated extension PlatformIcon {
    /// An angle upwards: the one before.
    static let angleUp = PlatformIcon([[3, 10, 8, 5, 13, 10]])
    /// An angle downwards: the one after.
    static let angleDown = PlatformIcon([[3, 6, 8, 11, 13, 6]])
    /// Three lines: the program's menu.
    static let menu = PlatformIcon([[2.5, 4, 13.5, 4], [2.5, 8, 13.5, 8], [2.5, 12, 13.5, 12]])
    /// A pin: stays on top.
    static let pin = PlatformIcon([
        [5.5, 2.5, 10.5, 2.5], [6.5, 2.5, 6, 8, 4, 10, 12, 10, 10, 8, 9.5, 2.5], [8, 10, 8, 14],
    ])
    /// A bell, struck through: no sound.
    static let muted = PlatformIcon(
        [
            [3.5, 11.5, 12.5, 11.5, 11.5, 10, 11.5, 7, 8, 3.2, 4.5, 7, 4.5, 10, 3.5, 11.5],
            [2.5, 2.5, 13.5, 13.5],
        ])
    /// A head and shoulders: a person.
    static let person = PlatformIcon(circles: [
        Circle(8, 5.4, 2.8), Circle(8, 14.6, 5.4, from: .pi, to: 2 * .pi),
    ])
}
