import Foundation

/// What the server has to say, as one value per event.
public struct LogRecordLine: Sendable, Hashable {
    /// How much it matters.
    public enum Level: Int, Sendable, Hashable, Comparable, CaseIterable {
        /// For those who look for a fault.
        case debug
        /// What happens in the normal course.
        case info
        /// What an operator should look at.
        case warning
        /// What an operator must look at.
        case error

        /// The level's name.
        public var name: String {
            switch self {
            case .debug: "debug"
            case .info: "info"
            case .warning: "warning"
            case .error: "error"
            }
        }

        /// Makes the level with this name.
        public init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }

        /// Orders levels by weight.
        public static func < (left: Level, right: Level) -> Bool {
            left.rawValue < right.rawValue
        }
    }

    /// How much it matters.
    public var level: Level
    /// What happened: static text.
    public var message: String
    /// The circumstances in order: ids, counts, codes and addresses, never contents or tokens.
    public var fields: [Field]

    /// One circumstance.
    public struct Field: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// Its value.
        public var value: String
    }
}

/// Takes what the server has to say; where it goes is the host's business.
public struct ServerLogger: Sendable {
    /// What is below this level is not even made.
    public var level: LogRecordLine.Level
    private let write: @Sendable (LogRecordLine) -> Void

    /// Makes a logger; the closure is called on any thread and must not block for long.
    public init(level: LogRecordLine.Level = .info, write: @escaping @Sendable (LogRecordLine) -> Void) {
        self.level = level
        self.write = write
    }

    /// A logger that says nothing.
    public static let silent = ServerLogger(level: .error) { _ in }

    func log(
        _ level: LogRecordLine.Level, _ message: StaticString,
        _ fields: @autoclosure () -> [(String, String)] = []
    ) {
        guard level >= self.level else { return }
        write(
            LogRecordLine(
                level: level, message: message.description,
                fields: fields().map { LogRecordLine.Field(name: $0.0, value: $0.1) }))
    }
}
