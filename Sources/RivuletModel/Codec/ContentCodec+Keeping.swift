/// Writing a message again without losing what this build does not know of it (docs/extensions.md, section 1).
extension ContentCodec {
    /// The JSON of a message that was `raw` before: what `raw` has beside the keys of its kind stays as it was written.
    ///
    /// - Throws: `ContentEncodingError` as ``encode(_:envelope:)-(MessageContent,_)``.
    public func encode(
        _ content: MessageContent, envelope: ContentEnvelope, keeping raw: String
    ) throws -> String {
        let written = try encode(content, envelope: envelope)
        guard let old = JSONMembers(raw), var new = JSONMembers(written) else { return written }
        let taken = new.keys.union(Self.envelopeKeys).union(keys(of: decode(raw).body))
        let kept = old.members.filter { !taken.contains($0.key) }
        guard !kept.isEmpty else { return written }
        new.members += kept
        return new.text
    }

    /// The content of `raw`, just as it was written, in another envelope; nil when `raw` is no JSON object.
    ///
    /// For what is sent on or shown elsewhere: also keys within the content that this build does not know stay.
    public func rewrap(_ raw: String, in envelope: ContentEnvelope) -> String? {
        // What `JSONMembers` cuts out must be JSON, or the result would be none.
        guard let old = JSONMembers(raw), isObject(raw),
            let outer = try? envelopeText(envelope), let new = JSONMembers(outer)
        else { return nil }
        let kept = old.members.filter { !Self.envelopeKeys.contains($0.key) }
        return JSONMembers(kept + new.members).text
    }

    /// The keys that an envelope can have.
    static let envelopeKeys: Set<String> = [
        "uuid", "reference", "group_id", "store_id", "store_name", "session_id", "name", "app_name",
        "fallback", "burn",
    ]

    /// The keys with which a kind stands in its object: what else is there is not known.
    private func keys(of body: DecodedContent.Body) -> Set<String> {
        switch body {
        case .message(.text): return ["text", "at", "at_name", "format", "stream"]
        case .message(.image): return ["image", "image2"]
        case .message(.timeBase): return ["timestamp", "timebase"]
        case .message(.unknown): return []
        case .message(let content):
            let written = try? encode(content, envelope: ContentEnvelope())
            return written.flatMap { JSONMembers($0) }?.keys ?? []
        case .control: return []
        }
    }
}
