import Foundation

/// What the user chose for the program, kept beside the messages.
nonisolated struct ChatSettings: Codable, Equatable {
    /// Light, dark, or as the desktop says.
    enum Look: String, Codable, CaseIterable {
        case system
        case light
        case dark
    }

    /// How large text can be, in hundredths of the desktop's size.
    static let textPercents = [100, 125, 150, 175, 200]

    var look = Look.system
    /// The size of text, in hundredths of what the desktop says.
    var textPercent = 100
    /// Whether quiet text and lines are strong.
    var isStrong = false
    /// The chat rooms of the list.
    var rooms: [Int64] = []

    init() {}

    /// Reads settings of any version: what is missing or out of range is as it was designed.
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, _ standard: Value) -> Value {
            (try? values.decodeIfPresent(Value.self, forKey: key)) ?? standard
        }
        look = value(.look, .system)
        let percent = value(.textPercent, 100)
        textPercent = Self.textPercents.contains(percent) ? percent : 100
        isStrong = value(.isStrong, false)
        rooms = Array(value(.rooms, [Int64]()).filter { $0 > 0 }.prefix(100))
    }

    /// The settings in a file; the standard ones when there is none that can be read.
    static func read(from path: String) -> ChatSettings {
        guard let data = FileManager.default.contents(atPath: path),
            let settings = try? JSONDecoder().decode(ChatSettings.self, from: data)
        else { return ChatSettings() }
        return settings
    }

    /// Writes the settings as a whole.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(filePath: path), options: .atomic)
    }
}
