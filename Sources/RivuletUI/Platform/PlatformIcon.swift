public import Foundation

/// A drawing of lines on a square of sixteen by sixteen points, which takes the colour of the text beside it.
public nonisolated struct PlatformIcon: Hashable, Sendable {
    /// A part of a circle; angles in radians, clockwise from the right.
    public struct Circle: Hashable, Sendable {
        /// The middle.
        public var x, y: Double
        /// The radius.
        public var radius: Double
        /// Where it begins and ends.
        public var start, end: Double

        /// Makes a circle, whole unless angles are given.
        public init(
            _ x: Double, _ y: Double, _ radius: Double, from start: Double = 0, to end: Double = 2 * .pi
        ) {
            self.x = x
            self.y = y
            self.radius = radius
            self.start = start
            self.end = end
        }
    }

    /// The lines, each through its points.
    public var strokes: [[CGPoint]]
    /// The circles.
    public var circles: [Circle]
    /// Whether the lines enclose what is filled.
    public var fills: Bool
    /// Whether it points along the reading direction, and so the other way in an interface from right to left.
    public var isDirectional: Bool

    /// Makes an icon of lines given as x and y in turn.
    public init(
        _ lines: [[Double]] = [], circles: [Circle] = [], fills: Bool = false, isDirectional: Bool = false
    ) {
        strokes = lines.map { line in
            stride(from: 0, to: line.count - 1, by: 2).map { CGPoint(x: line[$0], y: line[$0 + 1]) }
        }
        self.circles = circles
        self.fills = fills
        self.isDirectional = isDirectional
    }

    /// The icon with its sides exchanged.
    var mirrored: PlatformIcon {
        var icon = self
        icon.strokes = strokes.map { $0.map { CGPoint(x: 16 - $0.x, y: $0.y) } }
        icon.circles = circles.map {
            Circle(16 - $0.x, $0.y, $0.radius, from: .pi - $0.end, to: .pi - $0.start)
        }
        return icon
    }

    /// A part of a circle; both numbers are whole turns, clockwise from the right.
    public static func arc(from start: Double, turns: Double) -> PlatformIcon {
        PlatformIcon(circles: [Circle(8, 8, 6.4, from: start * 2 * .pi, to: (start + turns) * 2 * .pi)])
    }

    /// A plane: send.
    public static let send = PlatformIcon(
        [[2, 2.5, 14.5, 8, 2, 13.5, 4.2, 8.9, 9.5, 8, 4.2, 7.1]], fills: true, isDirectional: true)
    /// An arrow down: to the newest messages.
    public static let arrowDown = PlatformIcon([[8, 3, 8, 13], [4, 9, 8, 13, 12, 9]])
    /// An angle to the left: back.
    public static let back = PlatformIcon([[10, 3, 5, 8, 10, 13]], isDirectional: true)
    /// A magnifying glass.
    public static let search = PlatformIcon([[10.2, 10.2, 14, 14]], circles: [Circle(6.8, 6.8, 4.4)])
    /// A plus.
    public static let add = PlatformIcon([[8, 2.5, 8, 13.5], [2.5, 8, 13.5, 8]])
    /// A cross.
    public static let close = PlatformIcon([[4, 4, 12, 12], [12, 4, 4, 12]])
    /// Three dots.
    public static let more = PlatformIcon(
        circles: [Circle(8, 3, 0.8), Circle(8, 8, 0.8), Circle(8, 13, 0.8)], fills: true)
    /// Half sun, half moon: light and dark.
    public static let contrast = PlatformIcon(
        [[8, 2.5, 8, 13.5]], circles: [Circle(8, 8, 5.5), Circle(8, 8, 3, from: -.pi / 2, to: .pi / 2)])
    /// A clock: on its way.
    public static let clock = PlatformIcon([[8, 4.8, 8, 8, 10.4, 9.4]], circles: [Circle(8, 8, 5.6)])
    /// A tick: accepted.
    public static let tick = PlatformIcon([[3, 8.5, 6.4, 12, 13, 4.5]])
    /// Two ticks: delivered.
    public static let ticks = PlatformIcon([[0.8, 8.5, 4.2, 12, 10.4, 4.8], [7.2, 11, 8.2, 12, 14.6, 4.8]])
    /// An exclamation mark in a circle: failed.
    public static let failure = PlatformIcon(
        [[8, 4.6, 8, 8.8], [8, 11.2, 8, 11.3]], circles: [Circle(8, 8, 6)])
    /// A smile.
    public static let smile = PlatformIcon(
        [[5.8, 6.2, 5.8, 6.8], [10.2, 6.2, 10.2, 6.8]],
        circles: [Circle(8, 8, 6), Circle(8, 8.2, 3.2, from: 0.5, to: .pi - 0.5)])
    /// A paper clip, seen as a plus in a circle: attach.
    public static let attach = PlatformIcon(
        [[8, 4.8, 8, 11.2], [4.8, 8, 11.2, 8]], circles: [Circle(8, 8, 6)])
    /// A triangle: play.
    public static let play = PlatformIcon([[5, 3, 13, 8, 5, 13]], fills: true)
    /// A sheet of paper with a folded corner.
    public static let sheet = PlatformIcon([
        [9.5, 1.8, 3.4, 1.8, 3.4, 14.2, 12.6, 14.2, 12.6, 5, 9.5, 1.8], [9.5, 1.8, 9.5, 5, 12.6, 5],
    ])
    /// A pin on a map.
    public static let pin = PlatformIcon(
        [[3.6, 8.2, 8, 14.6, 12.4, 8.2]],
        circles: [Circle(8, 6.2, 4.8, from: .pi * 0.86, to: .pi * 2.14), Circle(8, 6.2, 1.6)])
    /// Two rings of a chain.
    public static let chain = PlatformIcon(
        [
            [5.6, 8, 10.4, 8], [6.4, 5, 4.6, 5], [6.4, 11, 4.6, 11], [9.6, 5, 11.4, 5], [9.6, 11, 11.4, 11],
        ],
        circles: [
            Circle(4.6, 8, 3, from: .pi / 2, to: .pi * 1.5), Circle(11.4, 8, 3, from: -.pi / 2, to: .pi / 2),
        ])
    /// Lines of a conversation.
    public static let lines = PlatformIcon(
        [
            [2, 2.6, 14, 2.6, 14, 11.6, 7.4, 11.6, 4.4, 14.4, 4.4, 11.6, 2, 11.6, 2, 2.6],
            [4.8, 5.8, 11.2, 5.8], [4.8, 8.6, 9.2, 8.6],
        ], isDirectional: true)
    /// The receiver of a telephone.
    public static let receiver = PlatformIcon([
        [
            3.2, 1.8, 5.6, 1.8, 7, 5.2, 5.2, 6.8, 6.4, 8.8, 9.2, 10.8, 10.8, 9, 14.2, 10.4, 14.2, 12.8, 12.8,
            14.2,
            9.4, 13.4, 5.2, 10.4, 2.4, 6.2, 1.8, 3.2, 3.2, 1.8,
        ]
    ])
    /// A camera for films.
    public static let camera = PlatformIcon(
        [
            [1.6, 4, 10.2, 4, 10.2, 12, 1.6, 12, 1.6, 4], [10.2, 7.2, 14.4, 4.8, 14.4, 11.2, 10.2, 8.8],
        ], isDirectional: true)
    /// A picture.
    public static let picture = PlatformIcon(
        [[2, 3, 14, 3, 14, 13, 2, 13, 2, 3], [2, 11.4, 6, 7.4, 9.4, 11, 11.2, 9.4, 14, 12]],
        circles: [Circle(10.8, 6, 0.9)])
}
