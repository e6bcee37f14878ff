/// A key of a JSON object, whatever it is.
struct JSONKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) {
        stringValue = name
    }

    init(stringLiteral value: String) {
        stringValue = value
    }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}

typealias JSONObjectReader = KeyedDecodingContainer<JSONKey>
typealias JSONObjectWriter = KeyedEncodingContainer<JSONKey>

/// Reading with the leniency that the generations of clients need: a value of another form counts as missing.
extension KeyedDecodingContainer<JSONKey> {
    func optional<Value: Decodable>(_ type: Value.Type, _ key: JSONKey) -> Value? {
        guard contains(key) else { return nil }
        do {
            return try decodeIfPresent(type, forKey: key)
        } catch {
            return nil
        }
    }

    func string(_ key: JSONKey) -> String {
        optional(String.self, key) ?? ""
    }

    func nonEmptyString(_ key: JSONKey) -> String? {
        optional(String.self, key).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// An integer, also when it was written with a fraction or as true and false.
    func optionalInteger(_ key: JSONKey) -> Int64? {
        guard contains(key) else { return nil }
        if let value = optional(Int64.self, key) { return value }
        if let value = optional(Double.self, key) { return Int64(exactly: value.rounded(.towardZero)) }
        return optional(Bool.self, key).map { $0 ? 1 : 0 }
    }

    func integer(_ key: JSONKey) -> Int64 {
        optionalInteger(key) ?? 0
    }

    /// A size or duration: negative ones count as unknown, greater ones than 32 bits are cut.
    func size(_ key: JSONKey) -> Int {
        Int(max(0, min(integer(key), Int64(Int32.max))))
    }

    func flag(_ key: JSONKey) -> Bool {
        integer(key) != 0
    }

    func object(_ key: JSONKey) throws -> JSONObjectReader {
        try nestedContainer(keyedBy: JSONKey.self, forKey: key)
    }

    func required(_ key: JSONKey) throws -> String {
        try decode(String.self, forKey: key)
    }

    /// The uuid that names another message; an empty one names none.
    func target(_ key: JSONKey = "msgid") throws -> String {
        let name = try decode(String.self, forKey: key)
        guard !name.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "empty")
        }
        return name
    }
}
