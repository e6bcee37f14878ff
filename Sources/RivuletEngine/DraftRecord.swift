import RivuletFlow
import RivuletModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a draft is beside its text, as the store keeps it.
struct DraftRecord: Codable, Hashable {
    struct Mention: Codable, Hashable {
        var user: Int64
        var name: String
    }

    var reference: String?
    var editing: String?
    var mentions: [Mention]?

    /// The record of a draft; nil when the text is all there is.
    static func text(of draft: Draft) throws -> String? {
        guard draft.reference != nil || draft.editing != nil || !draft.mentions.isEmpty else { return nil }
        let record = DraftRecord(
            reference: draft.reference, editing: draft.editing,
            mentions: draft.mentions.map { Mention(user: $0.user.rawValue, name: $0.name) })
        return String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
    }

    /// The draft of a text and its record; a record that cannot be read leaves the text.
    static func draft(text: String?, record: String?) -> Draft? {
        var draft = Draft(text: text ?? "")
        if let record {
            do {
                let read = try JSONDecoder().decode(DraftRecord.self, from: Data(record.utf8))
                draft.reference = read.reference
                draft.editing = read.editing
                draft.mentions = (read.mentions ?? []).map {
                    TextContent.Mention(user: UserID($0.user), name: $0.name)
                }
            } catch {
                return draft.isEmpty ? nil : draft
            }
        }
        return draft.isEmpty ? nil : draft
    }
}
