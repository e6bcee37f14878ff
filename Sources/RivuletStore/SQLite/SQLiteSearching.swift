public import RivuletModel
import SQLiteKit

extension SQLiteAccountStore {
    /// Finds messages by their text.
    public func search(_ query: SearchQuery) async throws -> [Message] {
        try await read { tables, codec in
            try tables.search(query).compactMap { try tables.message(of: $0, codec: codec) }
        }
    }
}
